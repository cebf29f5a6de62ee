// The person at the client is asked before a call may leave its sandbox: yes, no, neither, and nobody there to ask.
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type CallToolResult, type ElicitResult, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

export type Check = (ok: boolean, what: string, seen?: unknown) => void;

const COMPOSITION = `
- name: dsh-fs-sandbox
  config: { mode: read-only }
- name: dsh-fs-observation-policy
- name: dsh-tool-fs
`;
const DENIED = "Error: [sandbox: file access denied under read-only mode]\n[sandbox: escalation available";
const WIDER = { sandbox_permissions: "workspace-write", justification: "the notes belong there" };

const told = (result: CallToolResult): string =>
  result.content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");

/** A client of one answer; without one it cannot ask anybody. */
class Asked {
  readonly questions: string[] = [];
  private readonly client: Client;

  constructor(answer?: ElicitResult) {
    const info = { name: "dsh-fs-test", version: "1.0.0" };
    this.client = new Client(info, { capabilities: answer ? { elicitation: {} } : {} });
    if (answer) {
      this.client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
        this.questions.push(params.message);
        return answer;
      });
    }
  }

  async during(server: StdioClientTransport, body: (asked: Asked) => Promise<void>): Promise<void> {
    try {
      await this.client.connect(server);
      await body(this);
    } finally {
      await this.client.close();
    }
  }

  async write(name: string, more: Record<string, unknown> = {}): Promise<CallToolResult> {
    const args = { file_path: name, content: "mine\n", ...more };
    return (await this.client.callTool({ name: "write", arguments: args })) as CallToolResult;
  }
}

export async function asksThePerson(binary: string, env: Record<string, string>, check: Check): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "dsh-fs-asked-"));
  const workspace = join(await realpath(folder), "work");
  const composition = join(folder, "compose.yaml");
  await mkdir(workspace);
  await writeFile(composition, COMPOSITION);
  const args = ["mcp", "--cwd", workspace, "--compose", composition];
  const server = () => new StdioClientTransport({ command: binary, args, env });
  const content = (name: string) => readFile(join(workspace, name), "utf8").catch(() => undefined);
  try {
    const yes: ElicitResult = { action: "accept", content: {} };
    await new Asked(yes).during(server(), async (asked) => {
      const denied = await asked.write("a.txt");
      check(told(denied).startsWith(DENIED), "a write in read-only mode is denied, with what can be done", denied);
      check(asked.questions.length === 0, "and nobody was asked", asked.questions);
      const written = await asked.write("a.txt", WIDER);
      check(!written.isError && (await content("a.txt")) === "mine\n", "accept: the file is written", written);
      const [question = ""] = asked.questions;
      const named = ['"write"', JSON.stringify(join(workspace, "a.txt")), '"workspace-write"', '"the notes belong there"'];
      check(named.every((part) => question.includes(part)), "the question names tool, path, mode and reason", question);
      const again = await asked.write("b.txt");
      check(told(again).startsWith(DENIED), "a yes holds for one call", again);
      check(asked.questions.length === 1, "asked once", asked.questions);
    });
    const refusals: [string, ElicitResult | undefined, string][] = [
      ["decline", { action: "decline" }, 'Error: the user rejected escalating this operation to "workspace-write"'],
      ["cancel", { action: "cancel" }, 'Error: approval for escalating to "workspace-write" was cancelled'],
      [
        "no support",
        undefined,
        'Error: sandbox escalation to "workspace-write" requires approval, but no approval channel is available',
      ],
    ];
    for (const [what, answer, text] of refusals) {
      await new Asked(answer).during(server(), async (asked) => {
        const refused = await asked.write("c.txt", WIDER);
        check(refused.isError === true && told(refused) === text, `${what}: the call is refused`, refused);
        check((await content("c.txt")) === undefined, `${what}: nothing is written`);
        check(asked.questions.length === (answer ? 1 : 0), `${what}: the person was asked where that is possible`);
      });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
