// EVENT-1, EVENT-2 and EVENT-3: what a fact holds, and in which order facts stand.

import {
  createHeldClock,
  isTerminalFact,
  terminalFactType,
  toolResult,
  type FactData,
  type FactType,
  type HeldClock,
  type ToolResult,
} from "@soong/core";
import { ARGUMENTS_NAME } from "@soong/core/internal";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { atOnce, drive, setStage } from "./drive.ts";
import { richSession } from "./rich-session.ts";
import { createSpyJournal, factOf } from "./spy-journal.ts";
import { reader, START, writer } from "./world.ts";

describe("a fact", () => {
  it("carries its ids, its place, its time, and only what applies to it", async () => {
    verifies("EVENT-1");
    const stage = await setStage({ tools: [reader("a.read")], session_id: "s" });
    const child = await stage.session.startRun({
      run_id: "child",
      agent_id: "worker",
      parent: { run_id: "main", agent_id: "boss" },
      role: "sub",
    });
    await stage.clock.advance(5);
    await stage.run.execute([{ id: "1", name: "a__read", arguments: "{}" }]);
    await child.execute([{ id: "1", name: "a.read", arguments: "{}" }]);
    await stage.run.execute([{ id: "2", name: "a.read", arguments: "{}" }]);

    const facts = stage.facts();
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, i) => i + 1));
    expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length);
    for (const run_id of [stage.run.identity.run_id, "child"]) {
      const own = facts.filter((fact) => fact.run_id === run_id);
      expect(own.map(({ run_seq }) => run_seq)).toEqual(own.map((_, i) => i + 1));
    }
    for (const fact of facts) {
      expect(fact.session_id).toBe("s");
      expect(["debug", "info", "warn", "error"]).toContain(fact.level);
      expect(new Date(fact.time).toISOString()).toBe(fact.time);
      expect(JSON.parse(JSON.stringify(fact)), "it is JSON").toMatchObject({ id: fact.id });
      for (const key of Object.keys(fact)) expect(key).toMatch(/^[a-z_]+$/);
    }
    expect(facts[0]).toMatchObject({ type: "session.created" });
    expect([facts[0]?.run_id, facts[0]?.run_seq]).toEqual([undefined, undefined]);
    const started = facts.find(({ type, run_id }) => type === "tool.started" && run_id === "child");
    expect(started).toMatchObject({
      agent_id: "worker",
      parent_run_id: "main",
      parent_agent_id: "boss",
      tool_call_id: "1",
      tool_name: "a.read",
      time: new Date(START + 5).toISOString(),
    });
    // Whatever the model called it, records have the canonical name.
    const named = facts.filter(({ tool_call_id }) => tool_call_id === "1");
    expect(new Set(named.map(({ tool_name }) => tool_name))).toEqual(new Set(["a.read"]));
  });

  it("is where its seq says, though the clock runs backwards", async () => {
    verifies("EVENT-1");
    const held = createHeldClock(START);
    let back = 0;
    const clock: HeldClock = {
      now: () => held.now() - (back += 1000),
      monotonic: () => held.monotonic(),
      set: (now) => held.set(now),
      after: (ms, callback) => held.after(ms, callback),
      advance: (ms) => held.advance(ms),
      settle: () => held.settle(),
      get pending() {
        return held.pending;
      },
    };
    const stage = await setStage({ clock, tools: [reader("a.read")] });
    const [result] = await stage.run.execute([{ id: "1", name: "a.read", arguments: "{}" }]);
    expect(result?.status).toBe("succeeded");
    expect(result?.metadata.duration_ms).toBe(0);
    const facts = await stage.session.journal.read(0, 1000);
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, i) => i + 1));
    const times = facts.map(({ time }) => Date.parse(time));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    const live: number[] = [];
    await stage.session.close();
    for await (const { seq } of stage.session.facts()) live.push(seq);
    expect(live).toEqual(facts.map(({ seq }) => seq));
  });

  it("continues counting where a session that is opened again had ended", async () => {
    verifies("EVENT-1");
    const spy = createSpyJournal();
    const first = await setStage({ spy, session_id: "s" });
    const lastSeq = first.facts().at(-1)?.seq ?? 0;
    const second = await setStage({ spy, session_id: "s", lastSeq });
    const facts = second.facts();
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, i) => i + 1));
    expect(second.facts("session.created")).toHaveLength(1);
    expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length);
  });
});

describe("the terminal fact of a call", () => {
  it("is one, of the type of its status, and carries the whole result", async () => {
    verifies("EVENT-1", "RESULT-3");
    const stage = await setStage({
      tools: [
        reader("a.read"),
        reader("a.part", 0, { handler: () => toolResult({ status: "partial", data: { a: 1 } }) }),
        reader("a.big", 0, { handler: () => "x".repeat(100_000) }),
        reader("a.nothing", 0, { handler: () => undefined }),
        reader("a.fails", 0, {
          handler: () => Promise.reject(new Error("no")),
          on_sibling_failure: "cancel_siblings",
          concurrency_safe: true,
        }),
        reader("a.hangs", 0, { handler: () => new Promise(() => {}), timeout_ms: 1000 }),
        writer("a.asks"),
      ],
      ask: () => ({ decision: "deny", reason: "not today" }),
    });
    const results: ToolResult[] = [];
    const all = async (...names: string[]): Promise<void> => {
      const calls = names.map((name) => ({ name, arguments: {} }));
      results.push(...(await drive(stage.clock, stage.run.execute(calls))));
    };
    await all("a.read", "a.part", "a.big", "a.nothing", "a.unknown");
    await all("a.hangs", "a.fails");
    await all("a.hangs", "a.asks", "a.read");
    for (const end of ["abort", "discard"] as const) {
      const turn = stage.run.openTurn();
      turn.push({ name: "a.hangs", arguments: "{}" });
      results.push(...(await atOnce(stage.clock, turn[end]("enough"))));
    }
    expect(new Set(results.map(({ status }) => status))).toEqual(
      new Set([
        "succeeded",
        "partial",
        "denied",
        "cancelled",
        "failed",
        "timed_out",
        "rejected",
        "skipped",
        "aborted",
        "discarded",
      ]),
    );
    for (const result of results) {
      const own = stage.facts().filter((fact) => fact.tool_call_id === result.tool_call_id);
      const ends = own.filter(isTerminalFact);
      expect(ends.map(({ type }) => type)).toEqual([terminalFactType(result.status)]);
      expect(ends[0]?.data.result).toEqual(result);
    }
  });
});

/** EVENT-2's list. The compiler checks that the journal knows each. */
const LISTED = [
  "session.created",
  ...of("run", "queued", "started", "completed", "failed", "aborted"),
  "context.resolved",
  ...of("context.compaction", "started", "completed", "failed"),
  ...of("routing", "decided", "fallback"),
  ...of("model", "started", "delta", "completed", "failed"),
  "tool.catalog.resolved",
  ...of("tool", "requested", "validated"),
  "input.mutated",
  ...of("hook", "started", "completed", "failed", "denied"),
  ...of("permission", "evaluated", "requested", "resolved", "failed"),
  ...of("grant", "created", "revoked"),
  ...of("tool", "queued", "started", "progress", "completed", "failed", "denied", "skipped"),
  ...of("tool", "cancelled", "discarded", "yielded"),
  "artifact.created",
  ...of("output", "truncated", "redacted"),
  "tool.deferred.loaded",
  ...of("mcp.server", "connected", "failed", "tools_changed", "elicitation"),
  ...of("agent.child", "created", "completed", "failed", "cancelled"),
  "worker.dispatched",
  ...of("task", "created", "step.claimed"),
  ...of("memory", "candidate", "recalled", "written"),
  "skill.loaded",
  "error",
] satisfies readonly FactType[];

function of<Area extends string, Name extends string>(area: Area, ...names: Name[]) {
  return names.map((name) => `${area}.${name}` as const);
}

describe("the journal", () => {
  it("takes facts of every listed type and gives them back", async () => {
    verifies("EVENT-2");
    const stage = await setStage();
    const before = stage.facts().length;
    for (const type of LISTED) stage.session.recorder.record(type, { about: type });
    const facts = await stage.session.journal.read(before, 1000);
    expect(facts.map(({ type }) => type)).toEqual([...LISTED]);
  });

  it("holds, of what the kernel does, a fact of each of its types", async () => {
    verifies("EVENT-2");
    const stage = await richSession();
    const kernels = LISTED.filter((type: FactType) => {
      const [area] = type.split(".");
      if (type === "mcp.server.elicitation" || type === "run.queued") return type !== "run.queued";
      return ![
        "context",
        "routing",
        "model",
        "mcp",
        "agent",
        "worker",
        "task",
        "memory",
        "skill",
      ].includes(area ?? "");
    });
    const seen = new Set(stage.facts().map(({ type }) => type));
    expect(kernels.filter((type) => !seen.has(type))).toEqual([]);
  });

  it("shows of one call its request, who decided, how it went and what is left", async () => {
    verifies("EVENT-3");
    const stage = await richSession();
    const data = <T extends FactType>(id: string, type: T): FactData<T> | undefined =>
      factOf(stage.journal, id, type)?.data;

    expect(data("asked", "tool.requested")).toMatchObject({
      model_input: '{"text":"hello [redacted:KEY]"}',
    });
    const resolved = factOf(stage.journal, "asked", "permission.resolved");
    expect(resolved?.data).toMatchObject({ decision: "allow_for_session" });
    expect(data("asked", "tool.started")).toMatchObject({
      decision: "allow_for_session",
      decision_ref: resolved?.id,
      effects: { read_only: false, concurrency_safe: false, destructive: true },
      is_destructive: true,
    });
    expect(JSON.stringify(data("asked", "tool.started")?.hooks)).toContain('"mutate"');
    expect(data("asked", "tool.completed")).toMatchObject({ decision_ref: resolved?.id });
    expect(data("asked", "hook.completed")).toMatchObject({ hook: "mutate", event: "PreToolUse" });
    expect(data("failed", "tool.failed")).toMatchObject({
      result: {
        error: {
          code: "execution_failed",
          error_class: "execution_failed",
          retryable: false,
          recovery: "none",
        },
      },
    });
    expect(data("long", "tool.progress")).toMatchObject({ message: "half", progress: 1, total: 2 });
    const long = data("long", "tool.completed")?.result as ToolResult;
    expect(long.content.map(({ type }) => type)).toContain("artifact_ref");
    expect(long.summary.length).toBeLessThanOrEqual(200);
    const [kept, output] = stage
      .facts("artifact.created")
      .filter((fact) => fact.tool_call_id === "long")
      .map((fact) => fact.data);
    expect(output?.artifact_id).toBe(long.artifacts[0]?.artifact_id);
    expect(data("long", "tool.requested")).toMatchObject({ model_input_chars: 50_011 });
    expect(kept).toMatchObject({ name: ARGUMENTS_NAME, size: 50_011, tool_call_id: "long" });
    expect(await stage.artifacts.stat(kept?.artifact_id as string)).toEqual(kept);
  });
});
