// The terminal goes away: its window is closed, or the connection to it. The run ends as aborted, everything is on
// record, and the process ends as SIGHUP would have ended it.

import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleCli, environment, recordsOf, type CliBundle } from "./cli-bundle.ts";
import { atTerminal, canMakeTerminals, type Exchange } from "./pseudo-terminal.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const SCRIPT = `
turns:
  - text: I begin.
    calls: [ { tool: code.run_command, input: { argv: [sh, -c, "echo at work; sleep 300"] } } ]
  - text: Done.
`;
const STREAM = `
turns:
  - parts: [ { text: "I begin." }, { text: "And end.", after_ms: 300000 } ]
`;
const TALK = ["--model", "script:s.yaml"];
const RUN = ["run", "--model", "script:s.yaml", "go"];

/** Where it is when the terminal goes. */
const PLACES: readonly (readonly [
  string,
  string,
  readonly string[],
  string | undefined,
  string,
])[] = [
  ["a conversation that is idle", SCRIPT, TALK, undefined, "›"],
  ["a conversation while the model speaks", STREAM, TALK, "go\r", "I begin."],
  [
    "a conversation in a command",
    SCRIPT,
    [...TALK, "--allow", "code.run_command"],
    "go\r",
    "at work",
  ],
  ["a conversation at a question", SCRIPT, TALK, "go\r", "[n]o"],
  ["a run while the model speaks", STREAM, RUN, undefined, "I begin."],
  [
    "a run in a command",
    SCRIPT,
    [...RUN, "--allow", "code.run_command"],
    undefined,
    "→ code.run_command",
  ],
  ["a run at a question", SCRIPT, RUN, undefined, "[n]o"],
];

describe.skipIf(!canMakeTerminals())("a terminal that goes away (needs python3)", () => {
  for (const goes of ["closed", "SIGHUP"] as const) {
    it.each(PLACES)(`ends %s with 129 (${goes})`, async (_where, script, args, typed, shown) => {
      verifies("CLI-7");
      const place = await bundle.place();
      await place.write("s.yaml", script);
      const first: Exchange[] = typed === undefined ? [] : [{ after: "›", type: typed }];
      const end = await atTerminal(
        [process.execPath, bundle.program, ...args],
        [...first, { after: shown, type: "", goes }],
        { cwd: place.project, env: environment(place.home, { TERM: "xterm", NO_COLOR: "1" }) },
      );
      expect([end.code, end.screen.slice(-2000)]).toEqual([129, expect.any(String)]);
      const sessions = recordsOf(await place.run(["sessions", "--json"]));
      expect(sessions.every(({ status }) => status !== "open")).toBe(true);
      const isIdle = typed === undefined && args === TALK;
      expect(await lastFacts(place.home)).toEqual(isIdle ? [] : ["run.aborted"]);
      expect((await place.run(["verify", "--all"])).code).toBe(0);
    });
  }

  it("is left at once with Ctrl-D while a model keeps silent", async () => {
    verifies("CLI-1");
    const silent = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
    });
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const { port } = silent.address() as AddressInfo;
    const asked = once(silent, "request");
    const place = await bundle.place();
    const ending = atTerminal(
      [process.execPath, bundle.program, "--model", "openai:gpt-5"],
      [
        { after: "›", type: "go\r" },
        { after: "the model, ", type: "\u0004" },
      ],
      {
        cwd: place.project,
        env: environment(place.home, {
          TERM: "xterm",
          NO_COLOR: "1",
          OPENAI_API_KEY: "sk-of-this-test",
          OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
        }),
      },
    );
    await asked;
    // The server never says more, and the config waits five minutes for it: only leaving ends this.
    expect((await ending).code).toBe(130);
  });
});

/** Of each run that is kept, as its folder has it. */
async function lastFacts(home: string): Promise<unknown[]> {
  if (!existsSync(home)) return [];
  const files = await readdir(home, { recursive: true });
  return Promise.all(
    files
      .filter((file) => basename(file) === "events.jsonl")
      .map(async (file) => {
        const lines = (await readFile(join(home, file), "utf8")).trimEnd().split("\n");
        const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
        // A handler that settles after the end is recorded behind it.
        return types.findLast((type) => type !== "tool.late");
      }),
  );
}
