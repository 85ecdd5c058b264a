import type { Fact, FactType } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { richSession } from "../../../../test/kernel/rich-session.ts";
import { factLine } from "./fact-line.ts";
import { FACT_WORDS } from "./fact-words.ts";

const fact = (type: FactType, data: Fact["data"] = {}, about: Partial<Fact> = {}): Fact => ({
  id: "f7",
  seq: 7,
  type,
  time: "2026-01-01T00:00:00.000Z",
  level: "info",
  session_id: "s",
  data,
  ...about,
});

const textOf = (type: FactType, data: Fact["data"] = {}) => factLine(fact(type, data)).text;

describe("the line of a fact", () => {
  it("says what happened, for all that a kernel records", async () => {
    verifies("UI-1");
    const { journal } = await richSession();
    const lines = new Map<string, string>();
    for (const one of journal.facts) {
      const { text, ...row } = factLine(one);
      lines.set(one.type, text);
      expect(text, one.type).not.toBe("");
      expect(text, one.type).not.toMatch(/undefined|\[object|null/);
      expect(row).toEqual({
        seq: one.seq,
        time: one.time,
        type: one.type,
        level: one.level,
        ...(one.run_id === undefined ? {} : { run_id: one.run_id }),
        ...(one.tool_call_id === undefined ? {} : { tool_call_id: one.tool_call_id }),
        ...(one.tool_name === undefined ? {} : { tool_name: one.tool_name }),
      });
    }
    expect(lines.get("permission.evaluated")).toMatch(/^(?:allow|ask|deny): \S/);
    expect(lines.get("tool.deferred.loaded")).toBe("now loaded: a.later");
    expect(lines.get("input.mutated")).toBe("the input was changed by hook:mutate (text)");
    expect(lines.get("hook.denied")).toBe('deny said no: the hook "deny" refused this call');
    expect(lines.get("permission.failed")).toContain("asking failed: the window is closed");
    expect(lines.get("output.redacted")).toBe("1 secret hidden");
    expect(lines.get("output.truncated")).toMatch(
      /^the output was cut from \d+ to \d+ characters; all of it is in \S+$/,
    );
    expect(lines.get("tool.skipped")).toMatch(/^skipped: \S/);
    expect(lines.get("tool.progress")).toBe("1 of 2: half");
  });

  it("says it for the facts of agents, models and servers", () => {
    expect(
      [
        textOf("run.queued", { ahead: 2 }),
        textOf("run.completed", { reason: "completed" }),
        textOf("run.failed", { error: { code: "x", message: "No model answers." } }),
        textOf("model.started", { model: "m", request: 2, attempt: 3 }),
        textOf("model.completed", {
          model: "m",
          calls: 1,
          usage: { input_tokens: 5, output_tokens: 6 },
        }),
        textOf("model.completed", { model: "m", calls: 0 }),
        textOf("model.failed", { model: "m", error: { kind: "overloaded" } }),
        textOf("model.delta", { text: "Two\nlines" }),
        textOf("routing.fallback", { from: "a", to: "b", message: "too many requests" }),
        textOf("context.compaction.completed", { tokens_before: 900, tokens_after: 90 }),
        textOf("agent.child.created", { role: "fork", task: "Look." }),
        textOf("agent.child.failed", { status: "timed_out" }),
        textOf("worker.dispatched", { worker: "w/1", task_id: "t", step_id: "s" }),
        textOf("mcp.server.connected", { server_id: "git", tools: 3 }),
        textOf("tool.catalog.resolved", {
          revision: 2,
          base_revision: 1,
          counts: { loaded: 1, deferred: 2, excluded: 3 },
          tools: [{}],
        }),
        textOf("permission.resolved", { decision: "deny", answered_by: "ann", reason: "no" }),
        textOf("change.undone", { path: "/a" }),
        textOf("artifact.created", { name: "a.txt", size: 1 }),
        textOf("memory.recalled", { memories: [1, 2] }),
        textOf("task.step.failed", { task_id: "t", step_id: "s", reason: "no time" }),
        textOf("error", { code: "x", message: "It broke." }),
      ].join("\n"),
    ).toMatchInlineSnapshot(`
      "the run waits behind 2 others
      completed
      No model answers.
      m is asked: request 2, attempt 3
      m answered with 1 call (5 tokens in, 6 out)
      m answered
      m failed: overloaded
      Two lines
      from a to b (too many requests)
      the conversation was shortened from 900 to 90 tokens
      fork was started: Look.
      the child failed: timed_out
      w/1 was sent to s
      git is connected (3 tools)
      revision 2: 1 loaded, 2 deferred, 3 excluded (1 tool changed)
      ann answered deny (no)
      /a is as it was before the call again
      a.txt was kept (1 byte)
      2 memories recalled
      t s: no time
      It broke."
    `);
  });

  it("is bounded, one line, and there for data that is not as expected", () => {
    const long = factLine(
      fact("tool.requested", { model_input: { path: `${"😀".repeat(9000)}\n` } }),
    );
    expect(Array.from(long.text)).toHaveLength(160);
    expect(long.text.endsWith("…")).toBe(true);
    expect(Array.from(textOf("error", { message: "a\u202Eb\n".repeat(9000) }))).toHaveLength(300);
    expect(textOf("error", { message: "a\u202Eb\u0007\nc" })).toBe("a b c");
    for (const type of [...Object.keys(FACT_WORDS), "tool.completed", "something.new"]) {
      for (const data of [
        null,
        [],
        "text",
        7,
        { result: 1, request: "x", counts: [], tools: {} },
      ]) {
        expect(() => factLine(fact(type as FactType, data as never)), type).not.toThrow();
      }
    }
    expect(textOf("something.new" as FactType, { message: "A new thing." })).toBe("A new thing.");
    expect(textOf("toString" as FactType)).toBe("");
    expect(textOf("tool.completed", {})).toBe("completed");
  });
});
