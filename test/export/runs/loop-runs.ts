// Runs of the loop with a written model: requests, retries, routing, compaction, and how runs end.

import type { Fact } from "@soong/core";
import { noRoom } from "../../core/sources.ts";
import {
  calls,
  done,
  failed,
  openStage,
  says,
  writtenModel,
  type Answer,
  type LoopStage,
  type StageOptions,
} from "../../agent/loop-stage.ts";
import { ALLOW_ALL, readTool, slowTool, writeTool } from "../../agent/loop-tools.ts";
import type { Recordings } from "../recorded-runs.ts";

const read = readTool("a.read", () => "read");

export const LOOP_RUNS: Recordings = {
  "an answer without calls": () => ask([[says("Hel"), says("lo"), done()]]),
  "calls, then an answer": () =>
    ask(
      [
        [says("Looking."), calls("a__read"), calls("a__read", { path: "b" }), done("tool_use")],
        [says("Done."), done()],
      ],
      {
        tools: [read],
      },
    ),
  "an attempt that is tried again": () =>
    ask([
      [says("half"), failed("overloaded")],
      [says("whole"), done()],
    ]),
  "an attempt with a call that is discarded": () =>
    ask(
      [
        [calls("a__read", {}, "1"), failed("disconnect")],
        [calls("a__read", {}, "2"), done("tool_use")],
        [says("ok"), done()],
      ],
      {
        tools: [read],
      },
    ),
  "an attempt that wrote": () =>
    ask(
      [
        [calls("a__write", {}, "1"), { wait: 1000 }, failed("disconnect")],
        [says("ok"), done()],
      ],
      {
        tools: [writeTool("a.write", [])],
        sessionOptions: { policy: ALLOW_ALL },
      },
    ),
  "the next model after one that fails": () =>
    ask(
      Array.from({ length: 4 }, () => [failed("server_error")]),
      {
        others: (clock) => [writtenModel(clock, [[says("here"), done()]], "test:second")],
      },
    ),
  "a model that fails for good": () => ask([[failed("authentication")]]),
  "a refused prompt": () => ask([[says("No."), done("refused")]]),
  "an answer that is too long": () =>
    ask(Array.from({ length: 5 }, () => [says("and "), done("max_tokens")])),
  "an aborted answer": () => recordAborted([[says("Half"), { wait: 60_000 }]]),
  "an aborted call": () => recordAborted([[calls("a__slow"), done("tool_use")]]),
  "two prompts, one behind the other": async () => {
    const stage = await openStage([
      [{ wait: 1000 }, says("one"), done()],
      [says("two"), done()],
    ]);
    const runs = [stage.conversation.send("first"), stage.conversation.send("second")];
    for (const run of runs) await stage.finish(run);
    return stage.journal.facts;
  },
  "a compaction because the prompt was too long": () =>
    recordCompaction([
      [says("We looked."), done()],
      [says("ok"), done()],
    ]),
  "a compaction that fails": () => recordCompaction([[failed("invalid_request")]]),
  "a compaction on request": async () => {
    const stage = await openStage([
      [says("one ".repeat(200)), done()],
      [says("two ".repeat(200)), done()],
      [says("We counted."), done()],
    ]);
    await stage.ask("Count");
    await stage.ask("Go on");
    await stage.finish(stage.conversation.compact());
    return stage.journal.facts;
  },
  "a rewound conversation": async () => {
    const stage = await openStage([
      [says("one"), done()],
      [says("two"), done()],
    ]);
    await stage.ask("first");
    const [{ agent_id = "" } = {}] = stage.facts("run.started");
    const node_id = stage.journal.nodes[0]?.node_id ?? "";
    stage.session.recorder.record("context.rewound", { agent_id, node_id, reason: "another way" });
    await stage.ask("second");
    return stage.journal.facts;
  },
};

async function ask(
  answers: readonly Answer[],
  options: StageOptions = {},
): Promise<readonly Fact[]> {
  const stage = await openStage(answers, options);
  await stage.ask("go");
  return stage.journal.facts;
}

async function recordAborted(answers: readonly Answer[]): Promise<readonly Fact[]> {
  const stage: LoopStage = await openStage(answers, {
    tools: [slowTool(() => stage.clock, "a.slow", 50_000_000)],
  });
  const run = stage.conversation.send("go");
  await stage.clock.settle();
  await stage.clock.advance(500);
  void run.abort("not now");
  await stage.finish(run);
  return stage.journal.facts;
}

async function recordCompaction(after: readonly Answer[]): Promise<readonly Fact[]> {
  const call: Answer = [calls("a__read"), done("tool_use")];
  const stage = await openStage([call, call, call, [failed("prompt_too_long")], ...after], {
    tools: [readTool("a.read", () => "found ".repeat(500))],
    config: noRoom,
  });
  await stage.ask("go");
  return stage.journal.facts;
}
