import { describeFact, type FactType } from "@soong/core";
import { describe, expect, it } from "vitest";
import { writtenFact } from "../../../../test/facts.ts";
import { loadFactTexts } from "./facts.ts";

const FACT_TEXTS = await loadFactTexts();

const textOf = (type: FactType, data: unknown = {}) =>
  describeFact(writtenFact({ type, data }), FACT_TEXTS);

describe("the text of a fact", () => {
  it("says how a queued call runs, by the names of today and of earlier versions", () => {
    for (const kind of ["exclusive", "alone"]) {
      expect(textOf("tool.queued", { class: kind })).toBe("ready, runs alone");
    }
    expect(textOf("tool.queued", { class: "spawns_agent" })).toBe("ready, starts an agent");
  });

  it("says what happened, for the facts of agents, models and servers", () => {
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
      "run waits behind 2 others
      completed
      No model answers.
      m requested: request 2, attempt 3
      m answered with 1 call (5 tokens in, 6 out)
      m answered
      m failed: overloaded
      Two
      lines
      from a to b (too many requests)
      conversation compacted from 900 to 90 tokens
      fork started: Look.
      child failed: timed_out
      w/1 dispatched to s
      git connected (3 tools)
      revision 2: 1 loaded, 2 deferred, 3 excluded (1 tool changed)
      ann answered deny (no)
      /a restored to what it was before the call
      a.txt saved (1 byte)
      2 memories recalled
      t s failed: no time
      It broke."
    `);
  });

  it("is there for data that does not fit the type", () => {
    for (const type of Object.keys(FACT_TEXTS) as FactType[]) {
      for (const data of [null, [], "text", 7, { result: 1, request: "x", tools: {} }]) {
        expect(typeof textOf(type, data), type).toBe("string");
      }
    }
  });
});
