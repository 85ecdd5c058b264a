import { expect, test } from "vitest";
import { renderEntry, type ShownEntry } from "./transcript-markdown.ts";

const CALL: ShownEntry = {
  agent_id: "a",
  depth: 0,
  kind: "call",
  node_id: "n",
  tool_call_id: "c",
  tool_name: "code.run_command",
  arguments: '{"argv":["echo","`hi`"]}',
  status: "succeeded",
  is_error: false,
  questions: ["Approval requested: it changes something", "terminal answered: allow once"],
  summary: "echo succeeded",
  result: "```\n\u001b[31mhi\n```",
};

test("a call is what it was, what was asked, how it ended, and its result behind a fence it cannot end", () => {
  expect(renderEntry(CALL, { full: false })).toEqual([
    "",
    "**code.run_command** `` echo `hi` ``: succeeded: echo succeeded",
    "",
    "- Approval requested: it changes something",
    "- terminal answered: allow once",
    "",
    "````text",
    "```",
    "\\u001b[31mhi",
    "```",
    "````",
  ]);
});

test("a long result is cut, and whole where all is wanted, with the arguments", () => {
  const result = Array.from({ length: 400 }, (_, at) => `line ${at}`).join("\n");
  const cut = renderEntry({ ...CALL, result }, { full: false });
  expect(cut.at(-2)).toBe("… 390 more lines; `soong show --full` shows all");
  const wide = renderEntry({ ...CALL, result: "x".repeat(5000) }, { full: false });
  expect(wide.at(-2)).toBe("… it continues; `soong show --full` shows all");
  const full = renderEntry({ ...CALL, result }, { full: true });
  expect(full).toContain(CALL.arguments);
  expect(full.at(-2)).toBe("line 399");
});

test("what a child said is quoted", () => {
  const answer: ShownEntry = { ...CALL, depth: 1, kind: "answer", model: "m", text: "a\n\nb" };
  expect(renderEntry(answer, { full: false })).toEqual([
    ">",
    "> ## Answer (m)",
    ">",
    "> a",
    ">",
    "> b",
  ]);
});
