// REPLAY-1 over random turns, streamed as the loop streams them: whatever the calls, their tools, the people, the hooks and
// the stream did, a replay decides the same. The cases are always the same ones.

import { verifies } from "#laws";
import type { Fact, Run, Turn } from "@soong/core";
import { replayRun, replaySourceOf, type ReplayReport } from "@soong/agent";
import fc from "fast-check";
import { expect, it } from "vitest";
import { drive } from "../kernel/drive.ts";
import {
  anyCase,
  answer,
  clock,
  hooks,
  kernelFor,
  policy,
  roots,
  stage,
  type Case,
  type Step,
} from "../kernel/random-turn.ts";
import { createSpyJournal } from "../kernel/spy-journal.ts";

async function replayed(given: Case): Promise<ReplayReport> {
  const journal = createSpyJournal();
  const session = await drive(
    clock,
    kernelFor(given).openSession({
      journal,
      hooks,
      policy,
      roots,
      ask: (request) => answer(request.arguments),
    }),
  );
  stage.entered = () => {};
  const run = await drive(clock, session.startRun());
  await stream(run, given.steps);
  await clock.advance(1000);
  const source = replaySourceOf(journal, session.artifacts);
  return replayRun({ source, run_id: run.identity.run_id });
}

/** What the loop records about an answer, around the calls that came in it. */
async function stream(run: Run, steps: readonly Step[]): Promise<void> {
  const about = { request: 1, attempt: 1, model: "m", node_id: "n1" };
  const record = (type: Fact["type"], more: object = {}): void => {
    run.recorder.commit([run.recorder.draft(type, { ...about, ...more })]);
  };
  record("model.started");
  const turn = run.openTurn({ parentNodeId: about.node_id });
  let state: "streaming" | "ended" | "broken" = "streaming";
  for (const step of steps) {
    if (state === "broken") break;
    if (step.kind === "wait") await clock.advance(step.ms);
    else if (step.kind === "abort") {
      if (state === "streaming") record("model.failed");
      state = "broken";
      void turn.abort("by design");
    } else if (state === "ended") continue;
    else if (step.kind === "push") push(turn, step);
    else if (step.kind === "interrupt") continue;
    else if (step.kind === "discard") {
      state = "broken";
      await drive(clock, turn.discard("by design"));
      record("model.failed");
    } else state = end();
  }
  if (state === "streaming") end();
  await drive(clock, turn.settled());

  function end(): "ended" {
    record("model.completed", { stop: "tool_use" });
    turn.end();
    return "ended";
  }
}

function push(turn: Turn, { name, id, arguments: given }: Step & { kind: "push" }): void {
  const text = typeof given === "string" ? given : JSON.stringify(given);
  turn.push({ name, arguments: text, ...(id === undefined ? {} : { id }) });
}

it("decides random turns as they were decided", async () => {
  verifies("REPLAY-1");
  const cases = fc.sample(anyCase, { numRuns: 500, seed: 3 });
  const usual = cases.filter(({ early, together }) => early !== "all" && together === 10);
  const reports: ReplayReport[] = [];
  for (const given of usual) reports.push(await replayed({ ...given, flushMs: undefined }));
  expect(reports.flatMap(({ divergence }) => divergence ?? [])).toEqual([]);
  expect(reports.reduce((sum, { calls }) => sum + calls, 0)).toBeGreaterThan(200);
  // Of an answer that broke off it may not be known why a call could begin.
  expect(reports.filter(({ left_out }) => left_out.length > 0).length).toBeLessThan(10);
});
