// The small pure parts of a child's life.

import { createHeldClock, type ConversationNode } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { answerNode, userNode } from "../context/index.ts";
import { extractFindings, extractSummary } from "./child-result.ts";
import { compileExpectedOutput } from "./child-task.ts";
import { forkPath } from "./spawn-tools.ts";
import { createChildDeadline } from "./child-progress.ts";
import { createWorkerPools } from "./worker-pools.ts";

describe("the path of a fork", () => {
  const place = (node_id: string) => ({
    node_id,
    parent_id: undefined,
    session_id: "s",
    run_id: "r",
    agent_id: "a",
  });
  const asks = userNode(place("u"), [{ type: "text", text: "go" }]);
  const answer = (id: string, ...calls: string[]): ConversationNode =>
    answerNode(place(id), {
      model: "m",
      text: "",
      calls: calls.map((tool_call_id) => ({ tool_call_id, name: "x", arguments: "{}" })),
    });
  const result = (tool_call_id: string): ConversationNode => ({
    ...place(`r${tool_call_id}`),
    kind: "tool_result",
    tool_call_id,
    content: [],
  });

  test.each<[string, ConversationNode[], number]>([
    [
      "ends before the answer that is being carried out",
      [asks, answer("1", "a", "b"), result("a")],
      1,
    ],
    ["is whole while the answer still streams", [asks, answer("1", "a"), result("a")], 3],
    [
      "keeps what a crash left open further back",
      [asks, answer("1", "a"), asks, answer("2", "b"), result("b"), answer("3", "c")],
      5,
    ],
    ["may be empty", [], 0],
  ])("%s", (_name, path, kept) => {
    verifies("AGENT-2", "CTX-3");
    expect(forkPath(path)).toEqual(path.slice(0, kept));
  });
});

test("findings are the list below their line, and a summary is the first paragraph", () => {
  verifies("AGENT-4");
  const answer = "It is so.\nReally.\n\n## Findings:\n\n- one\n* two\n3. three\n\nNot one.\n- four";
  expect(extractSummary(answer)).toBe("It is so.\nReally.");
  expect(extractFindings(answer)).toEqual(["one", "two", "three"]);
  expect(extractFindings("No findings here.\n- x")).toEqual([]);
  expect(extractFindings(`Findings:\n${"- x\n".repeat(100)}`)).toHaveLength(50);
  expect(extractSummary("x".repeat(5000)).length).toBeLessThan(700);
});

test("an expected form is found in the whole answer or in its only fenced block", () => {
  verifies("AGENT-4");
  const expected = compileExpectedOutput({ type: "array", items: { type: "integer" } });
  if ("problem" in expected) throw new Error(expected.problem);
  expect(expected.read("[1, 2]")).toEqual({ ok: true, output: [1, 2] });
  expect(expected.read("Here:\n```json\n[3]\n```\nThat is it.")).toEqual({ ok: true, output: [3] });
  expect(expected.read("```\n[1]\n```\n```\n[2]\n```")).toEqual({
    ok: false,
    why: "it is not JSON.",
  });
  const beside = "First:\n```ts\nf();\n```\nthen\n```json\r\n[4]\n```";
  expect(expected.read(beside)).toEqual({ ok: true, output: [4] });
  expect(expected.read("  ")).toEqual({ ok: false, why: "it is empty." });
  // Would take hours if every fence looked for its end.
  expect(expected.read("```json\n".repeat(500_000))).toMatchObject({ ok: false });
  expect(expected.read('["x"]')).toMatchObject({
    ok: false,
    why: expect.stringContaining("0") as string,
  });
  expect(expected.requestCorrection("[1]")).toBeUndefined();
  expect(expected.requestCorrection("[")).toContain("Answer once more.");
});

test("the deadline does not advance while it is paused", async () => {
  verifies("PIPE-6");
  const clock = createHeldClock();
  let over = 0;
  const patience = createChildDeadline(clock, 1000, () => {
    over += 1;
  });
  await clock.advance(600);
  patience.pause();
  await clock.advance(5000);
  expect([patience.elapsed(), over]).toEqual([600, 0]);
  patience.resume();
  patience.resume();
  await clock.advance(399);
  expect(over).toBe(0);
  await clock.advance(1);
  expect([patience.elapsed(), over]).toEqual([1000, 1]);
  patience.stop();
  await clock.advance(5000);
  expect(over).toBe(1);
});

test("a pool gives each worker one run at a time", () => {
  verifies("SCHED-2");
  const pools = createWorkerPools([
    { name: "a", size: 2 },
    { name: "b", size: 1 },
  ]);
  const work = (run_id: string) => ({ session_id: "s", agent_id: "x", run_id, task_id: "t" });
  const first = pools.take({ pool: "a" }, work("1"));
  const named = pools.take({ worker: "a/2" }, work("2"));
  expect([first, named]).toMatchObject([
    { assignment: { worker: "a/1" } },
    { assignment: { worker: "a/2" } },
  ]);
  expect(pools.take({ pool: "a" }, work("3")).kind).toBe("busy");
  expect(pools.take({ worker: "a/1" }, work("3")).kind).toBe("busy");
  expect(pools.take({ pool: "c" }, work("3"))).toMatchObject({
    message: expect.stringContaining("a, b") as string,
  });
  expect(pools.findByRun("2")).toMatchObject({ worker: "a/2" });
  if (first.kind !== "taken") throw new Error("it was free");
  pools.free(first.assignment);
  const again = pools.take({ pool: "a" }, work("4"));
  expect(again).toMatchObject({ assignment: { worker: "a/1" } });
  // Freed twice, it is not taken from the one who has it now.
  pools.free(first.assignment);
  expect(pools.findByRun("4")).toBeDefined();
  expect(() => createWorkerPools([{ name: "a b", size: 1 }])).toThrow(RangeError);
  expect(() => createWorkerPools([{ name: "a", size: 0 }])).toThrow(RangeError);
  expect(() =>
    createWorkerPools([
      { name: "a", size: 1 },
      { name: "a", size: 1 },
    ]),
  ).toThrow("two");
});
