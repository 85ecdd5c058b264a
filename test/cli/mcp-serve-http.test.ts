// `soong mcp serve --http`: the real program on loopback behind a token that outlives it, the SDK's own client in both
// eras, and everyone who has no business there (GATE-1).

import { once } from "node:events";
import { chmodSync, lstatSync, readFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { verifies } from "#laws";
import { createHost, ERAS, textOf } from "../mcp/sdk-host.ts";
import { bundleCli, environment, type CliBundle, type Place, type Started } from "./cli-bundle.ts";
import { factsOf, secondTerminal, WAIT } from "./mcp-serve-stage.ts";
import { atTerminal, canMakeTerminals } from "./pseudo-terminal.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

describe("over HTTP", () => {
  it("serves clients of both protocols, is answered from a second terminal, and lets in no one else", async () => {
    verifies("CLI-5", "GATE-1", "GATE-2", "CLI-8");
    const place = await bundle.place();
    await place.write("a.txt", "hello\n");
    const served = await serve(place);
    const { url, token, program } = served;
    const bearer = `Bearer ${token}`;
    const terminal = await secondTerminal(bundle, place);
    for (const [name, mode] of ERAS) {
      const { client } = createHost(mode);
      const headers = { Authorization: bearer };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
      );
      const read = await client.callTool({ name: "code__read_file", arguments: { path: "a.txt" } });
      expect(textOf(read)).toContain("hello");
      const writing = client.callTool({
        name: "code__write_file",
        arguments: { path: `${name}.txt`, content: "two" },
      });
      const { question_id } = await terminal.next("question");
      terminal.answer({ question_id, decision: "allow_once" });
      expect((await writing).isError).toBe(false);
      expect(await place.read(`${name}.txt`)).toBe("two");
      await client.close();
    }

    expect(await status(url, {})).toBe(401);
    expect(await status(url, { authorization: "Bearer 0123456789abcdef" })).toBe(401);
    expect(await status(url, { authorization: bearer, host: "evil.example" })).toBe(403);
    expect(await status(url, { authorization: bearer, origin: "https://evil.example" })).toBe(403);
    expect(await status(url, { authorization: bearer })).toBe(200);

    program.child.kill("SIGTERM");
    const end = await program.ended;
    expect(end).toMatchObject({ code: 143, stdout: "" });
    // Whoever keeps what it says keeps no token.
    expect(end.stderr).not.toContain(token);
    expect((await factsOf(place)).map(({ type }) => type)).toContain("run.completed");

    // The token outlives it, for its owner alone; another is taken where it is given.
    const file = join(place.home, "mcp-serve-token");
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    const given = join(place.project, "given");
    await place.write(given, "a-token-of-my-own-0123\n");
    const second = await serve(place, ["--token-file", given]);
    expect(readFileSync(file, "utf8").trim()).toBe(token);
    expect(await status(second.url, { authorization: bearer })).toBe(401);
    expect(await status(second.url, { authorization: "Bearer a-token-of-my-own-0123" })).toBe(200);
    second.program.child.kill("SIGINT");
    expect((await second.program.ended).code).toBe(130);

    await place.write(given, "short\n");
    const short = await place.run(["mcp", "serve", "--http", "0", "--token-file", given]);
    expect(short).toMatchObject({ code: 2, stdout: "" });
    expect(short.stderr).toMatch(/given holds no token: one word of at least 16/);
    chmodSync(file, 0o644);
    const open = await place.run(["mcp", "serve", "--http", "0"]);
    expect(open).toMatchObject({ code: 2, stdout: "" });
    expect(open.stderr).toMatch(/mcp-serve-token can be read by others.*Delete it/);
  });

  it("says in one sentence what it cannot do", async () => {
    verifies("GATE-1", "CLI-6");
    const place = await bundle.place();
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void taken.close());
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const cases: [string[], number, RegExp][] = [
      [["--http", String(port)], 1, /127\.0\.0\.1, port \d+, is taken.*another port/],
      [["--http", "0", "--host", "203.0.113.7"], 1, /is not an address of this machine/],
      [["--http", "99999"], 2, /a port from 0 \(any free one\) to 65535, not 99999/],
      [["--host", "127.0.0.1"], 2, /--host is for --http PORT/],
      [["--token-file", "t"], 2, /--token-file is for --http PORT/],
      [["--server", "nobody"], 2, /names no server nobody/],
    ];
    for (const [args, code, message] of cases) {
      const end = await place.run(["mcp", "serve", ...args]);
      expect(end, args.join(" ")).toMatchObject({ code, stdout: "" });
      expect(end.stderr).toMatch(message);
      expect(end.stderr.trim().split("\n")).toHaveLength(1);
    }
  });
});

describe.skipIf(!canMakeTerminals())("at a terminal (needs python3)", () => {
  it("shows what to put into the config of a host", async () => {
    verifies("GATE-1");
    const place = await bundle.place();
    const options = {
      cwd: place.project,
      env: environment(place.home, { TERM: "xterm", NO_COLOR: "1", COLUMNS: "80" }),
    };
    const run = [process.execPath, bundle.program, "mcp", "serve"];
    const http = await atTerminal(
      [...run, "--http", "0"],
      [{ after: "Bearer ", type: "\u0003" }],
      options,
    );
    expect(http.code).toBe(130);
    const token = readFileSync(join(place.home, "mcp-serve-token"), "utf8").trim();
    expect(http.screen).toContain(`"Authorization": "Bearer ${token}"`);
    const stdio = await atTerminal(run, [{ after: '"serve"', type: "\u0003" }], options);
    expect(stdio.code).toBe(130);
    expect(stdio.screen).toContain("with a host that starts it");
  });
});

interface ServedHttp {
  readonly program: Started;
  readonly url: string;
  readonly token: string;
}

async function serve(place: Place, args: readonly string[] = []): Promise<ServedHttp> {
  const program = place.start(["mcp", "serve", "--http", "0", ...args]);
  let said = "";
  program.child.stderr!.on("data", (text: string) => {
    said += text;
  });
  const url = await vi.waitFor(() => {
    const found = / at (http:\S+\/mcp)\. /.exec(said)?.[1];
    if (found === undefined) throw new Error(`it says: ${said}`);
    return found;
  }, WAIT);
  const at = args[0] === "--token-file" ? args[1]! : join(place.home, "mcp-serve-token");
  return { program, url, token: readFileSync(at, "utf8").trim() };
}

/** Of an initialize request with these headers. */
async function status(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const sent = request(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
  });
  sent.end(
    JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "raw", version: "1" },
      },
    }),
  );
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}
