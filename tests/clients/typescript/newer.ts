// A client of the newer protocol (2026-07-28): the second TypeScript SDK, over both transports.   newer.js BIN
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CallToolResult, Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { HttpServer } from "./server.js";

const VERSION = "2026-07-28";
const CHANGE = { file_path: "notes.txt", old_string: "beta", new_string: "gamma" };

let passed = 0;
let failed = 0;

function check(ok: boolean, what: string, seen: unknown = ""): void {
  if (ok) passed += 1;
  else failed += 1;
  console.log(`${ok ? "ok  " : "FAIL"} typescript ${VERSION}: ${what}${ok ? "" : `: ${JSON.stringify(seen)}`}`);
}

const text = (result: CallToolResult): string =>
  result.content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");

const code = (result: CallToolResult): string | undefined =>
  (result._meta?.["dsh-fs/error"] as { code?: string } | undefined)?.code;

const call = async (client: Client, name: string, args: Record<string, unknown>): Promise<CallToolResult> =>
  (await client.callTool({ name, arguments: args })) as CallToolResult;

async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: "dsh-fs-test", version: "1.0.0" }, { versionNegotiation: { mode: { pin: VERSION } } });
  await client.connect(transport);
  return client;
}

async function readsAndEdits(client: Client, folder: string, over: string): Promise<void> {
  const path = join(folder, "notes.txt");
  await writeFile(path, "alpha\nbeta\n");
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  check(names.join() === "edit,glob,grep,read,write", `${over}: lists the five tools`, names);
  const refused = await call(client, "edit", CHANGE);
  check(code(refused) === "FS_NOT_OBSERVED", `${over}: an edit before a read is refused`, refused);
  const read = await call(client, "read", { file_path: "notes.txt" });
  check(!read.isError && text(read).includes("2: beta"), `${over}: reads`, read);
  const edited = await call(client, "edit", CHANGE);
  check(!edited.isError, `${over}: recovers: edits after the read`, edited);
  check((await readFile(path, "utf8")) === "alpha\ngamma\n", `${over}: the file is changed`);
}

async function keepsSessionsApart(server: HttpServer, folder: string): Promise<void> {
  const [one, other, nobody] = await Promise.all(
    [server.session("one"), server.session("other"), server.url].map((url) => connected(new StreamableHTTPClientTransport(url))),
  );
  assert(one && other && nobody);
  await writeFile(join(folder, "notes.txt"), "alpha\nbeta\n");
  check(!(await call(one, "read", { file_path: "notes.txt" })).isError, "http: one session reads");
  const refused = await call(other, "edit", CHANGE);
  check(code(refused) === "FS_NOT_OBSERVED", "http: that does not license another one", refused);
  check(!(await call(nobody, "read", { file_path: "notes.txt" })).isError, "http: without a session one may read");
  const unnamed = await call(nobody, "edit", CHANGE);
  check(code(unnamed) === "FS_NOT_OBSERVED", "http: but not change what is there", unnamed);
  check(text(unnamed).includes("Dsh-Session"), "http: and is told how to name a session", unnamed);
  check(!(await call(one, "edit", CHANGE)).isError, "http: the session that has read may edit");
  await Promise.all([one.close(), other.close(), nobody.close()]);
}

async function main(): Promise<void> {
  const [binary] = process.argv.slice(2);
  assert(binary, "usage: newer.js BIN");
  const folder = await mkdtemp(join(tmpdir(), "dsh-fs-newer-"));
  try {
    const stdio = await connected(new StdioClientTransport({ command: binary, args: ["mcp", "--cwd", folder] }));
    await readsAndEdits(stdio, folder, "stdio");
    await stdio.close();
    const server = await HttpServer.start(binary, ["--cwd", folder]);
    const http = await connected(new StreamableHTTPClientTransport(server.session("first")));
    await readsAndEdits(http, folder, "http");
    await http.close();
    await keepsSessionsApart(server, folder);
    const status = await server.stop();
    check(status === 0, "http: the server ends when it is told to", status);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  console.log(`typescript ${VERSION}: ${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
