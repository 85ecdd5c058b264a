import type { Fact } from "@soong/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { richSession } from "../../../../test/core/rich-session.ts";
import type { Lane } from "../wire/session-records.ts";
import { callStory } from "./call-story.ts";
import { createTimeline } from "./timeline.ts";
import { factLine } from "./fact-line.ts";
import { searchSurface } from "./search-surface.ts";
import { surfaceView } from "./surface-view.ts";
import { jsonChanges } from "./call-inputs.ts";

/** What facts carry, with anything else in its place. */
const FIELDS = [
  "result",
  "status",
  "summary",
  "model_input",
  "model_input_chars",
  "within_tool_call_id",
  "observable_input",
  "permission_input",
  "call_input",
  "changed_fields",
  "source",
  "chain",
  "request",
  "decision",
  "child_run_id",
  "run_id",
  "usage",
  "cost",
  "hook",
  "event",
  "duration_ms",
  "tools",
  "revision",
  "base_revision",
  "removed",
  "definitions",
  "artifact_id",
  "size",
  "error",
  "message",
  "preview",
  "resources",
  "effects",
];

const TYPES = [
  "run.queued",
  "run.started",
  "run.completed",
  "run.failed",
  "tool.requested",
  "tool.requested",
  "tool.validated",
  "tool.queued",
  "permission.evaluated",
  "permission.requested",
  "permission.resolved",
  "permission.failed",
  "hook.started",
  "hook.completed",
  "hook.denied",
  "input.mutated",
  "tool.started",
  "tool.progress",
  "tool.completed",
  "tool.discarded",
  "tool.yielded",
  "tool.late",
  "tool.waiting",
  "turn.halted",
  "output.truncated",
  "artifact.created",
  "grant.created",
  "model.started",
  "model.completed",
  "tool.catalog.resolved",
  "agent.child.created",
  "worker.dispatched",
  "task.noted",
  "task.of_tomorrow",
];

const anyData = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.dictionary(fc.constantFrom(...FIELDS), fc.jsonValue({ maxDepth: 4 })),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);

const anyFacts = fc
  .array(
    fc.record({
      type: fc.constantFrom(...TYPES),
      time: fc.oneof(
        fc.integer({ min: -9, max: 99 }).map((ms) => new Date(ms).toISOString()),
        fc.constantFrom("", "now", "9999-99-99"),
      ),
      run_id: fc.constantFrom("r1", "r1", "r2", undefined),
      tool_call_id: fc.constantFrom("c1", "c1", "c2", undefined),
      data: anyData,
    }),
    { maxLength: 60 },
  )
  .map((drafts) =>
    drafts.map(
      (draft, i) =>
        ({ id: `f${i + 1}`, seq: i + 1, level: "info", session_id: "s", ...draft }) as Fact,
    ),
  );

function expectSoundSpans({ spans, state }: Lane): void {
  expect(spans.length).toBeGreaterThan(0);
  spans.forEach(([, from, to], i) => {
    const isLast = i === spans.length - 1;
    expect(from).toBeLessThanOrEqual(to ?? Number.POSITIVE_INFINITY);
    if (!isLast) expect(to, "each ends where the next begins").toBe(spans[i + 1]?.[1]);
    else expect(to === null, state).toBe(state !== "ended");
  });
}

describe("facts of any kind", () => {
  it("make sound lanes, in pages of any size the same as all at once", () => {
    verifies("UI-1");
    fc.assert(
      fc.property(anyFacts, fc.array(fc.nat({ max: 9 }), { maxLength: 30 }), (facts, cuts) => {
        const whole = createTimeline();
        whole.take(facts);
        const paged = createTimeline();
        const seen = { runs: new Map<string, unknown>(), lanes: new Map<number, unknown>() };
        let version = 0;
        let at = 0;
        for (const cut of [...cuts, facts.length]) {
          paged.take(facts.slice(at, at + cut));
          at += cut;
          const changes = paged.changedSince(version, 3);
          ({ version } = changes);
          keep(changes);
        }
        keep(paged.changedSince(version, 1000));
        const all = whole.changedSince(0, 1000);
        expect([...seen.lanes.values()]).toHaveLength(all.lanes.length);
        for (const lane of all.lanes) expect(seen.lanes.get(lane.seq)).toEqual(lane);
        for (const run of all.runs) expect(seen.runs.get(run.run_id)).toEqual(run);
        expect(paged.runs()).toEqual(whole.runs());
        for (const lane of all.lanes) expectSoundSpans(lane);
        for (const { started_at, ended_at = started_at } of all.runs) {
          expect(ended_at).toBeGreaterThanOrEqual(started_at);
        }

        function keep({ runs, lanes }: typeof all): void {
          for (const run of runs) seen.runs.set(run.run_id, run);
          for (const lane of lanes) seen.lanes.set(lane.seq, lane);
        }
      }),
      { numRuns: 120 },
    );
  });

  it("have a line each, of bounded length, and their calls a story that is JSON", () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const timeline = createTimeline();
        timeline.take(facts);
        for (const fact of facts) {
          const { text } = factLine(fact);
          expect(Array.from(text).length).toBeLessThanOrEqual(300);
          expect(text).not.toMatch(/[\n\r\t]/);
        }
        for (const lane of timeline.changedSince(0, 1000).lanes) {
          const story = callStory({ session_id: "s", lane, facts, ...timeline.childrenOf(lane) });
          expect(JSON.parse(JSON.stringify(story))).toEqual(story);
          expect(story.facts).toContain(lane.seq);
          for (const { waited_ms = 0 } of story.decisions)
            expect(waited_ms).toBeGreaterThanOrEqual(0);
        }
        const view = surfaceView(facts, { run_id: "r1" });
        for (const { revision } of view?.revisions ?? []) {
          surfaceView(facts, { run_id: "r1", revision, definitions: facts[0]?.data });
        }
        searchSurface(facts, "read a file", { definitions: facts[0]?.data });
      }),
      { numRuns: 120 },
    );
  });

  it("that were right and lost a part are still reported", async () => {
    const { journal } = await richSession();
    const whole = JSON.stringify(journal.facts);
    fc.assert(
      fc.property(
        fc.array(fc.nat(), { maxLength: 40 }),
        fc.jsonValue({ maxDepth: 2 }),
        (at, instead) => {
          const facts = JSON.parse(whole) as Fact[];
          for (const n of at) {
            const fact = facts[n % facts.length];
            const fields = Object.keys(fact?.data ?? {});
            const field = fields[n % Math.max(1, fields.length)];
            if (fact !== undefined && field !== undefined) {
              (fact.data as Record<string, unknown>)[field] = instead;
            }
          }
          const timeline = createTimeline();
          timeline.take(facts);
          for (const lane of timeline.changedSince(0, 1000).lanes) {
            expectSoundSpans(lane);
            callStory({ session_id: "s", lane, facts });
          }
          for (const fact of facts) factLine(fact);
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe("the changes between two values", () => {
  /** Undone in the value that came of them, they give the one before. */
  function undone(after: unknown, changes: ReturnType<typeof jsonChanges>["changes"]): unknown {
    let root: unknown = structuredClone(after);
    for (const { path, from } of changes.toReversed()) {
      const keys = path
        .split("/")
        .slice(1)
        .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
      const last = keys.pop();
      if (last === undefined) {
        root = from;
        continue;
      }
      let holder = root as Record<string, unknown>;
      for (const key of keys) holder = holder[key] as Record<string, unknown>;
      if (from !== undefined) {
        Object.defineProperty(holder, last, {
          value: from,
          writable: true,
          enumerable: true,
          configurable: true,
        });
      } else if (Array.isArray(holder)) holder.length = Math.min(holder.length, Number(last));
      else delete holder[last];
    }
    return root;
  }

  it("are all of them", () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(value, value, (before, after) => {
        const { changes, is_cut } = jsonChanges(before as never, after as never);
        expect(changes.length).toBeLessThanOrEqual(100);
        fc.pre(!is_cut);
        expect(undone(after, changes)).toEqual(before);
      }),
    );
    fc.assert(
      fc.property(
        value,
        (same) => jsonChanges(same as never, structuredClone(same) as never).changes.length === 0,
      ),
    );
  });

  it("are bounded in number and in depth", () => {
    const wide = Array.from({ length: 500 }, (_, i) => i);
    const { changes, is_cut } = jsonChanges(
      wide,
      wide.map((n) => n + 1),
    );
    expect([changes.length, is_cut]).toEqual([100, true]);
    let deep: object = { a: 1 };
    let other: object = { a: 2 };
    for (let i = 0; i < 200; i += 1) [deep, other] = [{ a: deep }, { a: other }];
    const [change, ...others] = jsonChanges(deep as never, other as never).changes;
    expect(others).toEqual([]);
    expect(change?.path).toBe("/a".repeat(64));
    expect(jsonChanges({ "a/b": { "~": 1 } }, { "a/b": { "~": 2 } }).changes).toEqual([
      { path: "/a~1b/~0", from: 1, to: 2 },
    ]);
  });
});
