// A model that hangs, or never ends, in the real program: the run ends, and the process with it, on its own.

import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { compatibleWire } from "../agent/provider/compatible-wire.ts";
import { endless, hang, startReplayServer, type Reply } from "../agent/provider/replay-server.ts";
import { bundleCli, recordsOf, type CliBundle, type Place } from "./cli-bundle.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

async function facing(reply: Reply, limits: string): Promise<{ place: Place; server: Server }> {
  const server = await startReplayServer();
  onTestFinished(() => server.close());
  server.reply(reply);
  const place = await bundle.place();
  await place.write(
    `${place.home}/config.toml`,
    `[model]
default = "local"
retries = 0
${limits}
[models.profiles.local]
provider = "openai-compatible"
model = "tiny"
base_url = "${server.url}/v1"
`,
  );
  return { place, server };
}

type Server = Awaited<ReturnType<typeof startReplayServer>>;

const TEXT = compatibleWire.steps([{ text: "word " }]).join("");
const BEGUN = [compatibleWire.begin, TEXT] as const;
const EMPTY = compatibleWire.steps([{ text: "" }]).join("");
const whole = compatibleWire.steps([
  { call: "code__read_file", id: "1", fragments: ['{"path":"', "xyz"] },
]);
const frames = whole.join("").split(/(?<=\n\n)/);
const ARGUMENTS = frames.find((frame) => frame.includes("xyz")) ?? "";
const OPENED = frames.slice(0, frames.indexOf(ARGUMENTS)).join("");

const IDLE = "idle_timeout_ms = 300";

describe("the process of a run ends on its own", () => {
  const cases: readonly [what: string, reply: Reply, limits: string, code: string][] = [
    ["says nothing", () => {}, IDLE, "timeout"],
    ["stops in the middle", hang(...BEGUN), IDLE, "timeout"],
    ["sends comments for ever", endless(": still here\n\n", ...BEGUN), IDLE, "timeout"],
    ["sends empty pieces for ever", endless(EMPTY, ...BEGUN), IDLE, "timeout"],
    ["takes its time", endless(TEXT, ...BEGUN), "max_answer_ms = 300", "answer_too_slow"],
    [
      "sends text for ever",
      endless(TEXT.repeat(50), ...BEGUN),
      "max_answer_bytes = 100_000",
      "answer_too_large",
    ],
    [
      "sends arguments for ever",
      endless(ARGUMENTS.repeat(50), compatibleWire.begin, OPENED),
      "max_answer_bytes = 100_000",
      "answer_too_large",
    ],
  ];

  it.each(cases)("when its model %s", async (_what, reply, limits, code) => {
    verifies("LOOP-3", "LOOP-1");
    const { place } = await facing(reply, limits);
    const run = await place.run(["run", "go", "--json"]);
    expect(run).toMatchObject({ code: 1, signal: null });
    expect(recordsOf(run).at(-1)).toMatchObject({
      type: "run.failed",
      data: { reason: "failed", error: { code } },
    });
    const asked = recordsOf(run).filter(({ type }) => type === "model.started");
    expect(asked).toHaveLength(1);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("when it gets %s while its model hangs", async (sent) => {
    verifies("LOOP-3", "PIPE-7");
    const { place, server } = await facing(hang(...BEGUN), "");
    const { child, ended } = place.start(["run", "go"]);
    await server.answering;
    child.kill(sent);
    expect(await ended).toMatchObject({ code: sent === "SIGINT" ? 130 : 143, signal: null });
  });
});
