// A built dsh-fs that serves over HTTP, until it is told to stop.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const READY = /^listening on (http:\S+)$/;

export class HttpServer {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: URL,
  ) {}

  static async start(binary: string, args: string[]): Promise<HttpServer> {
    const child = spawn(binary, ["mcp", "--http", "127.0.0.1:0", ...args], { stdio: ["ignore", "ignore", "pipe"] });
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stderr })) {
      const url = READY.exec(line)?.[1];
      if (url) return new HttpServer(child, new URL(url));
      said.push(line);
    }
    throw new Error(`the server does not listen: ${said.join("; ")}`);
  }

  /** Where a session is served. */
  session(name: string): URL {
    return new URL(`${this.url.pathname}/${name}`, this.url);
  }

  /** Its exit code. */
  async stop(): Promise<number | null> {
    const ended = once(this.child, "exit") as Promise<[number | null]>;
    this.child.kill("SIGTERM");
    return (await ended)[0];
  }
}
