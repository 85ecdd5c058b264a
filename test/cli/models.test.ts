// Models of the config and of the environment, through the real provider packages, against servers of this machine:
// what a run costs, what it may cost, and which model answers.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { anthropicWire } from "../agent/provider/anthropic-wire.ts";
import { compatibleWire } from "../agent/provider/compatible-wire.ts";
import { googleWire } from "../agent/provider/google-wire.ts";
import { openaiWire } from "../agent/provider/openai-wire.ts";
import {
  events,
  startReplayServer,
  type Reply,
  type ReplayServer,
} from "../agent/provider/replay-server.ts";
import type { Step, Wire } from "../agent/provider/wire.ts";
import { bundleCli, recordsOf, type CliBundle, type Place } from "./cli-bundle.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

async function server(): Promise<ReplayServer> {
  const started = await startReplayServer();
  onTestFinished(() => started.close());
  return started;
}

function answer(usage: { input: number; output: number }, ...steps: Step[]): Reply {
  const stop = steps.some((step) => "call" in step) ? "calls" : "end";
  return events(
    compatibleWire.begin,
    ...compatibleWire.steps(steps),
    compatibleWire.end(stop, usage),
  );
}

async function configured(url: string, more = ""): Promise<Place> {
  const place = await bundle.place();
  await place.write("a.txt", "hello\n");
  await place.write(
    `${place.home}/config.toml`,
    `model.default = "local"
[models.profiles.local]
provider = "openai-compatible"
model = "tiny"
base_url = "${url}/v1"
prices = { input = 3, output = 15, currency = "EUR" }
${more}`,
  );
  return place;
}

describe("what a run costs", () => {
  it("is reported at its end, with its session and with its facts, at the prices of the config", async () => {
    verifies("EVENT-7", "CONF-3");
    const replay = await server();
    const place = await configured(replay.url);
    replay.reply(answer({ input: 1000, output: 200 }, { text: "Hi." }));
    const run = await place.run(["run", "hello"]);
    const told = "1 request, 1000 tokens in, 200 out, cost 0.006 EUR";
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining(told)]);
    const run_id = /soong events (\S+)`/.exec(run.stderr)?.[1] ?? "";
    const [text, json, events] = await Promise.all([
      place.run(["sessions"]),
      place.run(["sessions", "--json"]),
      place.run(["events", run_id]),
    ]);
    expect(text.stdout).toContain("1 turn · cost 0.006 EUR");
    expect(recordsOf(json)[0]).toMatchObject({
      usage: {
        requests: 1,
        untold: 0,
        unpriced: 0,
        input_tokens: 1000,
        output_tokens: 200,
        cost: [{ currency: "EUR", micros: 6000 }],
      },
    });
    expect(events.stderr).toContain(told);
  });

  it("ends the run where the budget of the config is used up", async () => {
    verifies("MODEL-4", "CONF-3");
    const replay = await server();
    const budget = '[model.budget]\nmax_cost = 0.006\ncurrency = "EUR"';
    const place = await configured(replay.url, budget);
    replay.reply(
      answer(
        { input: 1000, output: 200 },
        { call: "code__read_file", id: "1", fragments: ['{"path":"a.txt"}'] },
      ),
    );
    const run = await place.run(["run", "read", "--json"]);
    expect(run.code).toBe(1);
    expect(recordsOf(run).at(-1)).toMatchObject({
      type: "run.failed",
      data: {
        reason: "failed",
        error: {
          code: "budget",
          message: expect.stringContaining("0.006 EUR of 0.006 EUR") as string,
        },
        usage: { requests: 1 },
      },
    });
    expect(replay.requests).toHaveLength(1);
  });
});

describe("with no config at all", () => {
  const KEY = "k3y-of-the-test-5up3rs3cr3t";
  const ways: readonly [string, Wire, (url: string) => Record<string, string>][] = [
    ["anthropic", anthropicWire, (url) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url })],
    ["openai", openaiWire, (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` })],
    ["google", googleWire, (url) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url })],
  ];

  it("a key in the environment is enough, for any provider, and it is sent to no other", async () => {
    verifies("CONF-2", "MODEL-1", "REDACT-1");
    const place = await bundle.place();
    const runs = ways.map(async ([name, wire, envOf]) => {
      const replay = await server();
      const steps = wire.steps([{ text: "From afar." }]);
      replay.reply(events(wire.begin, ...steps, wire.end("end", { input: 12, output: 3 })));
      const run = await place.run(["run", "hi", "--json"], { env: envOf(replay.url) });
      return { name, wire, run, requests: replay.requests };
    });
    for (const { name, wire, run, requests } of await Promise.all(runs)) {
      expect([name, run.code, run.stderr]).toEqual([name, 0, ""]);
      const facts = recordsOf(run);
      expect(facts.find(({ type }) => type === "model.completed")).toMatchObject({
        data: {
          model: expect.stringMatching(`^${name}:.`) as string,
          usage: { input_tokens: 12, output_tokens: 3 },
          cost: null,
        },
      });
      expect(requests[0]?.path.startsWith(`${wire.prefix}/`)).toBe(true);
      expect(JSON.stringify(requests[0]?.headers)).toContain(KEY);
      expect(run.stdout).not.toContain(KEY);
    }
  });

  it("a local server is asked for its first model; one that is not there is reported", async () => {
    verifies("CONF-2", "MODEL-1");
    const listing = createServer((request, response) => {
      request.resume();
      request.on("end", () => {
        if (request.method === "GET") {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(JSON.stringify({ data: [{ id: "some-embed" }, { id: "tiny:1b" }] }));
          return;
        }
        response.writeHead(200, { "content-type": "text/event-stream" });
        const steps = compatibleWire.steps([{ text: "Here." }]);
        const usage = { input: 1, output: 1 };
        response.end([compatibleWire.begin, ...steps, compatibleWire.end("end", usage)].join(""));
      });
    });
    await new Promise<void>((resolve) => {
      listing.listen(0, "127.0.0.1", resolve);
    });
    onTestFinished(() => void listing.close());
    const { port } = listing.address() as AddressInfo;
    const place = await bundle.place();
    const env = { OLLAMA_HOST: `127.0.0.1:${port}` };
    const [run, doctor] = await Promise.all([
      place.run(["run", "hi"], { env }),
      place.run(["doctor"], { env }),
    ]);
    expect([run.code, run.stdout]).toEqual([0, "Here.\n"]);
    expect(doctor.stdout).toMatch(/^ok +model +the first model that the server lists/m);
    listing.closeAllConnections();
    await new Promise((resolve) => {
      listing.close(resolve);
    });
    const gone = await place.run(["run", "hi"], { env });
    expect(gone).toMatchObject({ code: 2, stdout: "" });
    expect(gone.stderr).toContain("nothing listens there");
  });

  it("and no key, one sentence says how to get a model, and that the demo needs none", async () => {
    verifies("CONF-2", "CLI-6");
    const place = await bundle.place();
    const [run, doctor] = await Promise.all([place.run(["run", "hi"]), place.run(["doctor"])]);
    expect(run).toMatchObject({ code: 2, stdout: "" });
    for (const word of ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OLLAMA_HOST", "soong demo"]) {
      expect(run.stderr).toContain(word);
    }
    expect(doctor.stdout).toMatch(/^warn +model +none/m);
  });
});
