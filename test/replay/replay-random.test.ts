// REPLAY-1 over random turns, streamed as the loop streams them: whatever the calls, their tools, the users, the hooks, the
// journal and the stream did, a replay decides the same. The cases are always the same ones.

import { verifies } from "#laws";
import type { Fact, JsonObject, MemoryJournal, Run, Turn } from "@soong/core";
import { replayRun, createReplaySource, type ReplayReport } from "@soong/replay";
import fc from "fast-check";
import { expect, it } from "vitest";
import { drive } from "../core/drive.ts";
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
  type Manner,
  type Step,
} from "../core/random-turn.ts";
import { createSpyJournal } from "../core/spy-journal.ts";

type Edit = (facts: readonly Fact[]) => Fact[];

async function replayed(given: Case, edit: Edit = (facts) => [...facts]): Promise<ReplayReport> {
  const { flushMs } = given;
  const journal = createSpyJournal(flushMs === undefined ? {} : { onFlush: () => pause(flushMs) });
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
  const kept: Pick<MemoryJournal, "facts" | "nodes"> = {
    facts: edit(journal.facts),
    nodes: journal.nodes,
  };
  const source = createReplaySource(kept, session.artifacts);
  return replayRun({ source, run_id: run.identity.run_id });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
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
    } else if (step.kind === "interrupt") turn.interrupt("by design");
    else if (state === "ended") continue;
    else if (step.kind === "push") push(turn, step);
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

const CASES = process.env["SOONG_TEST_FULL"] === "1" ? 2500 : 150;
const SEED = Number(process.env["SOONG_TEST_SEED"] ?? 11);
const isLong = ({ steps }: Case): boolean => steps.length > 7;

it("decides random turns as they were decided", { timeout: 1_200_000 }, async () => {
  verifies("REPLAY-1", "REPLAY-3");
  const cases = fc.sample(anyCase.filter(isLong), { numRuns: CASES, seed: SEED });
  const reports: ReplayReport[] = [];
  for (const given of cases) reports.push(await replayed(given));
  const wrong = reports.flatMap(({ divergence, left_out }, i) =>
    divergence === undefined && left_out.length === 0 ? [] : [{ case: i, divergence, left_out }],
  );
  expect(wrong).toEqual([]);
  expect(reports.reduce((sum, { calls }) => sum + calls, 0)).toBeGreaterThan(CASES * 3);
});

/** What a replay once took for another decision, as few steps as show it. */
const ONCE_DIVERGED: Record<string, Case> = {
  "a plan that is denied after a hook's stop, before the call notices": {
    early: "none",
    together: 2,
    flushMs: undefined,
    steps: [called("t.read", { plan: "secret" }), called("t.read", { pre: "stop" })],
  },
  "a plan that fails after a sibling's failure, before the call notices": {
    early: "all",
    together: 2,
    flushMs: undefined,
    steps: [called("t.command", { do: "report" }), called("t.cancel", { plan: "throw" })],
  },
  "an approved call whose answer breaks off while it is planned again": {
    early: "all",
    together: 2,
    flushMs: 0,
    steps: [
      called("t.mixed", { plan: "slow", pre: "ask", ms: 46 }),
      { kind: "wait", ms: 56 },
      { kind: "discard" },
    ],
  },
};

function called(name: (Step & { kind: "push" })["name"], manner: Partial<Manner>): Step {
  const plain = { do: "value", check: "fine", plan: "fine", pre: "pass", post: "pass" } as const;
  const given: Manner = { ...plain, ask: "once", harmless: false, ms: 10, ...manner };
  return { kind: "push", name, id: undefined, arguments: given };
}

it.each(Object.entries(ONCE_DIVERGED))("decides the same: %s", async (_name, given) => {
  verifies("REPLAY-1");
  const { divergence, left_out } = await replayed(given);
  expect({ divergence, left_out }).toEqual({ divergence: undefined, left_out: [] });
});

it("decides the same with any words in the record", async () => {
  verifies("REPLAY-1");
  const cases = fc.sample(anyCase.filter(isLong), { numRuns: 60, seed: 5 });
  const reports: ReplayReport[] = [];
  for (const given of cases) reports.push(await replayed(given, inOtherWords));
  expect(
    reports.flatMap(({ divergence, left_out }) => [divergence ?? [], left_out].flat()),
  ).toEqual([]);
});

/** Every sentence of the kernel, of a rule or of a hook is another one. Codes, ids and what tools returned stay. */
function inOtherWords(facts: readonly Fact[]): Fact[] {
  return facts.map((fact) => {
    if (fact.type === "run.started" || fact.type === "tool.catalog.resolved") return fact;
    const result = "result" in fact.data ? fact.data.result : undefined;
    const message = result?.error?.message;
    const text = JSON.stringify(fact, (key, value: unknown) => {
      const isSentence = WORDS.has(key) || (message !== undefined && value === message);
      return isSentence && typeof value === "string" ? "in other words" : value;
    });
    return JSON.parse(text) as Fact;
  });
}

const WORDS: ReadonlySet<string> = new Set(["reason", "message", "summary", "detail"]);

it("decides the usual ones the same in a record of an earlier version", async () => {
  verifies("REPLAY-1");
  const cases = fc.sample(anyCase, { numRuns: 500, seed: 3 });
  const usual = cases.filter(({ early, together }) => early !== "all" && together === 10);
  const reports: ReplayReport[] = [];
  for (const { steps, ...given } of usual) {
    const kept = steps.filter(({ kind }) => kind !== "interrupt");
    const usually = { ...given, flushMs: undefined, steps: kept };
    reports.push(await replayed(usually, withoutOrder));
  }
  expect(reports.flatMap(({ divergence }) => divergence ?? [])).toEqual([]);
  // Of an answer that broke off it may not be known why a call could begin.
  expect(reports.filter(({ left_out }) => left_out.length > 0).length).toBeLessThan(10);
});

/** As it was before ends, waits and halts were on record when they happened. Other facts stand in their places. */
function withoutOrder(facts: readonly Fact[]): Fact[] {
  return facts.map((fact) => {
    if (fact.type === "turn.halted" || fact.type === "tool.waiting") {
      const { tool_call_id: _id, ...rest } = fact;
      return { ...rest, type: "error", data: {} } as Fact;
    }
    const { ended: _ended, record_version: _version, ...data } = fact.data as JsonObject;
    if (fact.type === "tool.queued" || fact.type === "tool.started") {
      data["class"] = EARLIER_CLASSES[fact.data.class ?? ""] ?? data["class"] ?? null;
    }
    return { ...fact, data } as Fact;
  });
}

const EARLIER_CLASSES: Record<string, string> = {
  parallel: "together",
  exclusive: "alone",
  spawns_agent: "starter",
};
