import type { Fact, FactType, ToolResult } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { writtenFact } from "../../../../test/facts.ts";
import { coloursFor } from "../output/index.ts";
import { createCallBoard } from "./call-board.ts";

const plain = coloursFor({}, {});

function factOf(type: FactType, tool_call_id: string, data: object = {}): Fact {
  return writtenFact({ type, tool_call_id, tool_name: "code.run_command", data });
}

function resultOf(given: Partial<ToolResult>): ToolResult {
  return {
    tool_call_id: "c1",
    tool_name: "code.run_command",
    status: "succeeded",
    is_error: false,
    content: [],
    summary: "done",
    artifacts: [],
    metadata: { duration_ms: 3210, provenance: { source_kind: "builtin", source_id: "x" } },
    ...given,
  };
}

test("a call has one line while it is queued, awaits approval and runs, with its time and progress", () => {
  verifies("CLI-1");
  let now = 0;
  const board = createCallBoard(() => now, plain);
  board.requested({
    tool_call_id: "c1",
    name: "code_run_command",
    arguments: '{"argv":["npm","test"]}',
  });
  expect(board.live(80)).toEqual(["· code_run_command npm test queued"]);
  board.noted(factOf("permission.requested", "c1"));
  now = 65_000;
  expect(board.live(80)).toEqual(["? code.run_command npm test waits for you 1 min 5 s"]);
  board.noted(factOf("permission.resolved", "c1"));
  board.noted(factOf("tool.started", "c1"));
  now = 67_500;
  board.noted(factOf("tool.progress", "c1", { message: "a\n12 \u001b[31mpassed\n", progress: 3 }));
  expect(board.live(80)).toEqual(["… code.run_command npm test runs 2 s: 3 12 \\u001b[31mpassed"]);
  expect(board.ended(resultOf({}), 80).line).toBe("✓ code.run_command npm test done 3.2 s");
  expect(board.isEmpty).toBe(true);
  expect(board.live(80)).toEqual([]);
});

test("every line fits the screen, and a crowd is counted", () => {
  verifies("CLI-1");
  const board = createCallBoard(() => 0, plain);
  for (let i = 0; i < 30; i += 1) {
    const path = `src/${"deep/".repeat(i * 4)}file.ts`;
    board.requested({
      tool_call_id: `c${i}`,
      name: "code.read_file",
      arguments: `{"path":"${path}"}`,
    });
  }
  const lines = board.live(80);
  expect(lines).toHaveLength(9);
  expect(lines.at(-1)).toContain("22 more");
  for (const line of lines) expect(line.length).toBeLessThan(80);
  board.clear();
  expect(board.isEmpty).toBe(true);
  const summary = "many words ".repeat(40);
  for (const columns of [60, 80, 200]) {
    board.requested({ tool_call_id: "c1", name: "x", arguments: `{"path":"${"p".repeat(99)}"}` });
    const line = board.ended(resultOf({ summary, tool_name: "a.b" }), columns).line;
    expect(line.length).toBeLessThan(columns);
    expect(line).toMatch(/^✓ a\.b p+… many.*… 3\.2 s$/);
  }
  // In a narrow window what came of it is worth more than what it was about.
  const narrow = resultOf({ summary, tool_name: "internal.write_memory" });
  board.requested({ tool_call_id: "c1", name: "x", arguments: '{"path":"三个汉字"}' });
  expect(board.ended(narrow, 44).line).toBe("✓ internal.write_memory many words m… 3.2 s");
});

test("what failed says why, what it was about is not said twice, and nothing reaches the terminal unseen", () => {
  verifies("CLI-1");
  const board = createCallBoard(() => 0, plain);
  board.requested({ tool_call_id: "c1", name: "x", arguments: '{"path":"a.txt"}' });
  const error = {
    code: "c",
    error_class: "execution_failed",
    message: "a.txt \u001b]0;gone\u0007",
    recovery: "ask_the_user",
  } as unknown as NonNullable<ToolResult["error"]>;
  // Broken between words, so that it can be read, and at the edge.
  expect(board.ended(resultOf({ status: "failed", is_error: true, error }), 30).line).toBe(
    "✗ code.run_command failed:\na.txt \\u001b]0;gone\\u0007 3.2\ns",
  );
  const long = { ...error, message: "It does not fit:\n- a\n- b\n- c\n- d" };
  board.requested({ tool_call_id: "c1", name: "x", arguments: "{}" });
  expect(board.ended(resultOf({ status: "failed", is_error: true, error: long }), 80).line).toBe(
    "✗ code.run_command failed: It does not fit:\n- a\n- b\n… 2 more lines 3.2 s",
  );
  board.requested({ tool_call_id: "c1", name: "x", arguments: "{not json \u001b" });
  expect(board.live(80)[0]).toContain("{not json \\u001b");
});

test("the last lines of the output are below the line of a call, within its width, shared among those that run", () => {
  verifies("CLI-1", "CMD-5");
  const board = createCallBoard(() => 0, plain);
  for (const tool_call_id of ["c1", "c2"]) {
    board.requested({ tool_call_id, name: "code.run_command", arguments: '{"argv":["make"]}' });
    board.noted(factOf("tool.started", tool_call_id));
  }
  const tail = ["1", "2", "3", "4", "\u001b[2J\t中文".repeat(20)];
  board.noted(factOf("tool.progress", "c1", { message: "Build all", data: { tail } }));
  const [line, ...below] = board.live(30);
  expect(line).toBe("… code.run_command make runs…");
  expect(below.slice(0, 5)).toEqual([
    "  │ 1",
    "  │ 2",
    "  │ 3",
    "  │ 4",
    expect.stringMatching(/^ {2}│ \\u001b\[2J {4}中文\\u001b.*…$/),
  ]);
  for (const row of below) expect(row.length).toBeLessThan(30);
  board.noted(factOf("tool.progress", "c2", { message: "x", data: { tail: ["w", "x"] } }));
  expect(board.live(80)).toEqual([
    "… code.run_command make runs: Build all",
    "  │ 4",
    expect.stringMatching(/^ {2}│ .*…$/),
    "… code.run_command make runs",
    "  │ w",
    "  │ x",
  ]);
});
