// RESULT-1 over random turns: whatever the calls, their tools, the users, the hooks and the stream do, every
// call has exactly one result, on record once, in its place, and nothing is left behind.

import {
  isTerminalFact,
  terminalFactType,
  type Fact,
  type JournalEntry,
  type ToolContext,
  type ToolResult,
} from "@soong/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { verifies } from "#laws";
import { drive } from "./drive.ts";
import {
  anyCase,
  answer,
  clock,
  hooks,
  kernelFor,
  own,
  policy,
  roots,
  stage,
  type Case,
  type Manner,
} from "./random-turn.ts";
import { createSpyJournal, type SpyJournal } from "./spy-journal.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 20_000 : 1000;

interface Pushed {
  readonly id: string;
  readonly name: string;
  readonly manner: Manner | undefined;
}

interface Entered {
  readonly id: string;
  readonly started: boolean;
  readonly durable: boolean;
  readonly streaming: boolean;
  /** The turn had been aborted or discarded. */
  readonly cut: boolean;
}

interface Halt {
  readonly kind: "abort" | "interrupt" | "discard";
  readonly streaming: boolean;
  /** The last fact before it. */
  readonly seq: number;
}

interface Played {
  readonly pushed: readonly Pushed[];
  readonly entered: readonly Entered[];
  readonly results: readonly ToolResult[];
  readonly delivered: readonly ToolResult[];
  /** How many calls came before the stream was over. */
  readonly inTime: number;
  readonly journal: SpyJournal;
  /** What the journal was given, and what that said then. */
  readonly entries: readonly (readonly [entry: JournalEntry, text: string])[];
  /** What ended the turn from outside, and whether the stream was still open then. */
  readonly halts: readonly Halt[];
  readonly leftTimers: number;
}

async function play(given: Case): Promise<Played> {
  const { flushMs } = given;
  const flushing = (): Promise<void> =>
    new Promise((resolve) => {
      own.timers += 1;
      clock.after(flushMs ?? 0, () => {
        own.timers -= 1;
        resolve();
      });
    });
  const entries: [entry: JournalEntry, text: string][] = [];
  const onAppend = (entry: JournalEntry) => void entries.push([entry, readEntry(entry)]);
  const journal = createSpyJournal(
    flushMs === undefined ? { onAppend } : { onAppend, onFlush: flushing },
  );
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
  const run = await drive(clock, session.startRun());
  const pushed: Pushed[] = [];
  const entered: Entered[] = [];
  const delivered: ToolResult[] = [];
  let inTime = 0;
  let open = true;
  let streaming = true;
  const halts: Halt[] = [];
  stage.entered = ({ toolCallId: id }: ToolContext) => {
    const started = journal.facts.find((f) => f.type === "tool.started" && f.tool_call_id === id);
    const durable = started !== undefined && started.seq <= journal.durable;
    const cut = halts.some(({ kind }) => kind !== "interrupt");
    entered.push({ id, started: started !== undefined, durable, streaming, cut });
  };

  const turn = run.openTurn();
  const delivering = (async () => {
    for await (const result of turn.results()) delivered.push(result);
  })();
  for (const step of given.steps) {
    if (open) inTime = pushed.length;
    if (step.kind === "wait") await clock.advance(step.ms);
    else if (step.kind === "push") {
      const { name, arguments: args } = step;
      const text = typeof args === "string" ? args : JSON.stringify(args);
      const id = turn.push({
        name,
        arguments: text,
        ...(step.id !== undefined && { id: step.id }),
      });
      pushed.push({ id, name, manner: typeof args === "string" ? undefined : args });
    } else if (step.kind === "end") {
      streaming = false;
      open = false;
      turn.end();
    } else {
      if (step.kind !== "interrupt") open = false;
      halts.push({ kind: step.kind, streaming, seq: journal.facts.length });
      void turn[step.kind]("by design");
    }
  }
  streaming = false;
  turn.end();
  const results = await drive(clock, turn.settled());
  const leftTimers = clock.pending - own.timers;
  await drive(clock, delivering);
  await clock.advance(1000);
  return { pushed, entered, results, delivered, inTime, journal, entries, halts, leftTimers };
}

function expectLawful(given: Case, played: Played): void {
  const { pushed, entered, results, delivered, journal, halts } = played;
  const ids = pushed.map(({ id }) => id);
  expect(new Set(ids).size, "ids are unique").toBe(ids.length);
  expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(ids);
  // Whoever reads along may be done when a call comes after the end; all others were delivered.
  expect(delivered).toEqual(results.slice(0, delivered.length));
  expect(delivered.length).toBeGreaterThanOrEqual(played.inTime);
  expect(played.leftTimers, "timers left behind").toBe(0);
  const yielded = journal.facts.filter((fact) => fact.type === "tool.yielded");
  expect(yielded.map(({ tool_call_id }) => tool_call_id)).toEqual(ids);
  expect(journal.facts.map(({ seq }) => seq)).toEqual(journal.facts.map((_, i) => i + 1));
  for (const [entry, text] of played.entries) {
    expect(readEntry(entry), "facts say later what they said at first").toBe(text);
  }
  expect(new Set(entered.map(({ id }) => id)).size, "handlers run once").toBe(entered.length);

  const factsOf = new Map<string, Fact[]>(ids.map((id) => [id, []]));
  for (const fact of journal.facts) factsOf.get(fact.tool_call_id ?? "")?.push(fact);
  results.forEach((result, i) => {
    expectOneEnd(result, factsOf.get(result.tool_call_id) ?? []);
    expect(result.tool_name).toBe(pushed[i]?.name);
    const ran = entered.some(({ id }) => id === result.tool_call_id);
    if (NEVER_RAN.has(result.status)) expect(ran, `${result.status}, and it ran`).toBe(false);
    if (result.status === "succeeded" || result.status === "partial") expect(ran).toBe(true);
  });

  for (const { id, ...when } of entered) {
    const { name, manner } = pushed.find((call) => call.id === id) as Pushed;
    expect(when.started, "a handler ran before tool.started").toBe(true);
    expect(when.cut, "a handler began after the turn was aborted or discarded").toBe(false);
    if (!writes(name, manner)) continue;
    expect(when.durable, "a write ran before tool.started was durable").toBe(true);
    if (given.early !== "all") expect(when.streaming, "a write ran during the stream").toBe(false);
  }
  expectBarriers(played);
  const stop = journal.facts.find(isStop);
  const halted = Math.min(halts[0]?.seq ?? Infinity, stop?.seq ?? Infinity);
  for (const { type, seq } of journal.facts) {
    if (type === "tool.started")
      expect(seq, "started in a halted turn").toBeLessThanOrEqual(halted);
  }
  const [halt] = halts;
  if (halt?.kind === "discard" && halt.streaming && given.early !== "all") {
    for (const { id } of entered) {
      const { name, manner } = pushed.find((call) => call.id === id) as Pushed;
      expect(writes(name, manner), "an abandoned attempt wrote").toBe(false);
    }
    if (halts.length > 1 || stop !== undefined) return;
    expect(new Set(results.map(({ status }) => status))).toEqual(
      new Set(results.length === 0 ? [] : ["discarded"]),
    );
  }
}

function readEntry({ facts, nodes }: JournalEntry): string {
  return JSON.stringify({ facts, nodes });
}

/** A hook ended the run. */
function isStop({ type, data }: Fact): boolean {
  return type === "hook.completed" && data.outcome === "stop";
}

const NEVER_RAN = new Set(["denied", "rejected", "skipped"]);

function expectOneEnd(result: ToolResult, facts: readonly Fact[]): void {
  const types = facts.map(({ type }) => type);
  expect(types[0]).toBe("tool.requested");
  const at = facts.findIndex(isTerminalFact);
  const ends = facts.filter(isTerminalFact);
  expect(ends.map(({ type }) => type)).toEqual([terminalFactType(result.status)]);
  expect(ends[0]?.data.result).toEqual(result);
  const after = types
    .slice(at + 1)
    .filter((type) => type !== "tool.yielded" && type !== "tool.late");
  expect(after, "facts after the end").toEqual([]);
  if (NEVER_RAN.has(result.status)) expect(types).not.toContain("tool.started");
  const denied = facts.findIndex(
    ({ type, data }) =>
      type === "hook.denied" || (type === "permission.evaluated" && data.decision === "deny"),
  );
  if (denied !== -1) expect(types.slice(denied)).not.toContain("tool.started");
  expect(types.filter((type) => type === "tool.started").length).toBeLessThanOrEqual(1);
  expect(result.is_error).toBe(result.status !== "succeeded" && result.status !== "partial");
  if (result.is_error) {
    expect(result.error?.message).toBeTruthy();
    expect(result.error?.code).not.toBe("internal_error");
  }
  expect(result.metadata.duration_ms).toBeGreaterThanOrEqual(0);
}

/** What a hook made of a call may come when its neighbours run already; all others keep to the groups. */
function expectBarriers({ pushed, entered, results }: Played): void {
  const order = entered.map(({ id }) => pushed.findIndex((call) => call.id === id));
  const plain = ({ manner }: Pushed): boolean =>
    manner?.pre !== "worse" && manner?.pre !== "invalid";
  order.forEach((index, at) => {
    const call = pushed[index] as Pushed;
    if (!isBarrier(call) || !plain(call)) return;
    for (const earlier of order.slice(0, at))
      expect(earlier, "crossed a barrier").toBeLessThan(index);
    for (const later of order.slice(at + 1))
      expect(later, "crossed a barrier").toBeGreaterThan(index);
  });
  results.forEach(({ status }, index) => {
    const call = pushed[index] as Pushed;
    if (!STOPS.has(status) || !plain(call) || !writes(call.name, call.manner)) return;
    for (const other of order)
      expect(other, "ran after a write that failed").toBeLessThanOrEqual(index);
  });
}

const STOPS = new Set(["failed", "timed_out", "denied", "rejected"]);

function writes(name: string, manner: Manner | undefined): boolean {
  if (name === "t.write" || name === "t.asks") return true;
  return name === "t.mixed" && (manner?.harmless !== true || manner.pre === "worse");
}

function isBarrier({ name, manner }: Pushed): boolean {
  return name === "t.alone" || writes(name, manner);
}

it("every call of a random turn has exactly one result, on record once, in call order", async () => {
  verifies(
    "EVENT-1",
    "RESULT-1",
    "PIPE-1",
    "PIPE-3",
    "PIPE-7",
    "SCHED-1",
    "SCHED-3",
    "SCHED-6",
    "SCHED-7",
  );
  await fc.assert(
    fc.asyncProperty(anyCase, async (given) => {
      expectLawful(given, await play(given));
    }),
    { numRuns },
  );
});
