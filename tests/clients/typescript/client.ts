// A client of the older protocol (with `initialize`): the TypeScript SDK, over both transports.   client.js BIN
import assert from "node:assert/strict";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { asksThePerson } from "./elicitation.js";
import { HttpServer } from "./server.js";

const SPARSE_BYTES = 64 * 2 ** 30;

let passed = 0;
let failed = 0;

function check(ok: boolean, what: string, seen: unknown = ""): void {
  if (ok) passed += 1;
  else failed += 1;
  console.log(`${ok ? "ok  " : "FAIL"} typescript: ${what}${ok ? "" : `: ${JSON.stringify(seen)}`}`);
}

const text = (result: CallToolResult): string =>
  result.content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");

const code = (result: CallToolResult): string | undefined =>
  (result._meta?.["dsh-fs/error"] as { code?: string } | undefined)?.code;

async function call(client: Client, name: string, args: Record<string, unknown>, signal?: AbortSignal) {
  return (await client.callTool({ name, arguments: args }, undefined, signal ? { signal } : {})) as CallToolResult;
}

async function listsTheTools(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  const named = (name: string) => tools.find((tool) => tool.name === name);
  const names = tools.map((tool) => tool.name);
  check(["edit", "read", "write"].every((name) => names.includes(name)), "lists read, write and edit", names);
  const edit = named("edit");
  const keys = Object.keys(edit?.inputSchema.properties ?? {});
  const ordered = "file_path,old_string,new_string,replace_all,sandbox_permissions,justification";
  check(keys.join() === ordered, "schemas keep the order of their keys", keys);
  check(named("read")?.annotations?.readOnlyHint === true, "read is read-only", named("read"));
  check(edit?.annotations?.destructiveHint === true && edit.annotations.openWorldHint === false, "edit is destructive", edit);
  const instructions = client.getInstructions() ?? "";
  check(instructions.includes("Use the read tool"), "the guidance is in the server's instructions", instructions);
  check(instructions.includes("\n\nCurrent runtime context."), "and after it the runtime context", instructions);
  check(client.getServerVersion()?.name === "dsh-fs", "the server says its name", client.getServerVersion());
}

async function readsAndEdits(client: Client, folder: string): Promise<void> {
  const path = join(folder, "notes.txt");
  await writeFile(path, "alpha\nbeta\n");
  const change = { file_path: "notes.txt", old_string: "beta", new_string: "gamma" };
  const refused = await call(client, "edit", change);
  check(refused.isError === true && code(refused) === "FS_NOT_OBSERVED", "an edit before a read is refused", refused);
  check((await readFile(path, "utf8")) === "alpha\nbeta\n", "and changed nothing");
  const read = await call(client, "read", { file_path: "notes.txt" });
  check(!read.isError && text(read).includes("2: beta"), "reads", read);
  const edited = await call(client, "edit", change);
  check(!edited.isError, "recovers: edits after the read", edited);
  check((await readFile(path, "utf8")) === "alpha\ngamma\n", "the file is changed");
}

async function cancelsALongRead(client: Client, folder: string): Promise<void> {
  const file = await open(join(folder, "sparse"), "w");
  await file.write("0123456\n".repeat(1024));
  await file.truncate(SPARSE_BYTES);
  await file.close();
  const abort = new AbortController();
  let ended: unknown;
  const long = call(client, "read", { file_path: "sparse" }, abort.signal).then(
    (result) => (ended = result),
    (error: unknown) => (ended = error),
  );
  await sleep(300);
  check(ended === undefined, "the long read is under way", ended);
  const started = performance.now();
  abort.abort("enough");
  await long;
  check(ended instanceof Error, "it ends for the client at once", ended);
  // An edit runs alone, so it answers only once the read has really stopped.
  const edited = await call(client, "edit", { file_path: "notes.txt", old_string: "alpha", new_string: "omega" });
  const took = performance.now() - started;
  check(!edited.isError, "the call after the cancelled one is made", edited);
  check(took < 1000, "within one second", `${took.toFixed(0)} ms`);
}

async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: "dsh-fs-test", version: "1.0.0" });
  await client.connect(transport);
  return client;
}

async function doesItAll(transport: Transport, folder: string): Promise<void> {
  const client = await connected(transport);
  try {
    await listsTheTools(client);
    await readsAndEdits(client, folder);
    await cancelsALongRead(client, folder);
  } finally {
    await client.close();
  }
}

// Every client has a session of its own by its `Mcp-Session-Id`, which it has to name nowhere.
async function overHttp(binary: string, folder: string): Promise<void> {
  const server = await HttpServer.start(binary, ["--cwd", folder]);
  // The SDK's own type does not fit its interface where optional properties are exact.
  const transport = () => new StreamableHTTPClientTransport(server.url) as Transport;
  await doesItAll(transport(), folder);
  const [one, other] = [await connected(transport()), await connected(transport())];
  await writeFile(join(folder, "notes.txt"), "alpha\nbeta\n");
  const change = { file_path: "notes.txt", old_string: "beta", new_string: "gamma" };
  check(!(await call(one, "read", { file_path: "notes.txt" })).isError, "http: one client reads");
  const refused = await call(other, "edit", change);
  check(code(refused) === "FS_NOT_OBSERVED", "http: that does not license another one", refused);
  check(!(await call(one, "edit", change)).isError, "http: the client that has read may edit");
  await Promise.all([one.close(), other.close()]);
  const status = await server.stop();
  check(status === 0, "http: the server ends when it is told to", status);
}

async function main(): Promise<void> {
  const [binary] = process.argv.slice(2);
  assert(binary, "usage: client.js BIN");
  const folder = await mkdtemp(join(tmpdir(), "dsh-fs-client-"));
  const env = Object.fromEntries(Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined));
  try {
    await doesItAll(new StdioClientTransport({ command: binary, args: ["mcp", "--cwd", folder], env }), folder);
    await overHttp(binary, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await asksThePerson(binary, env, check);
  console.log(`typescript: ${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
