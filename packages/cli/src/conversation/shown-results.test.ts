import type { ToolResult } from "@soong/core";
import { describe, expect, it } from "vitest";
import { coloursFor } from "../output/index.ts";
import { readOutputWish } from "./expand-result.ts";
import { createShownResults, renderExcerpt, renderResult } from "./shown-results.ts";

const colours = coloursFor({}, {});

function resultOf(text: string, more: Partial<ToolResult> = {}): ToolResult {
  return {
    tool_call_id: "c1",
    tool_name: "code.run_command",
    status: "succeeded",
    is_error: false,
    content: [{ type: "text", text }],
    summary: "done",
    artifacts: [],
    metadata: { duration_ms: 1, provenance: { source_kind: "builtin", source_id: "x" } },
    ...more,
  };
}

const FAILED = {
  is_error: true,
  status: "failed",
  data: { exit_code: 2 },
  error: { code: "command_failed", message: "The command failed with exit code 2." },
} as unknown as Partial<ToolResult>;

function excerpt(result: ToolResult): string[] {
  return renderExcerpt(result, { columns: 40, colours, key: "Ctrl-O" });
}

describe("what is shown of a result", () => {
  it("is of a failed command what tells of an error, and its end", () => {
    const many = Array.from({ length: 40 }, (_, at) => `ok ${at}`);
    many[3] = "\u001b[31mTypeError: x is not a function\u001b[0m";
    const shown = excerpt(resultOf(`${FAILED.error?.message}\n\n${many.join("\n")}`, FAILED));
    expect(shown).toHaveLength(10);
    expect(shown[0]).toBe("  │ TypeError: x is not a function");
    expect(shown.at(-2)).toBe("  │ ok 39");
    expect(shown.at(-1)).toBe("  … 31 more lines; Ctrl-O shows all");
    expect(excerpt(resultOf("boom\nstderr:\nbang", FAILED))).toEqual(["  │ boom", "  │ bang"]);
  });

  it("is of a command that went well its last lines, and of other calls nothing", () => {
    const data = { exit_code: 0 };
    expect(excerpt(resultOf("1\n2\n3\n4\n", { data }))).toEqual([
      "  │ 2",
      "  │ 3",
      "  │ 4",
      "  … 1 more line; Ctrl-O shows all",
    ]);
    expect(excerpt(resultOf("(It wrote nothing.)", { data }))).toEqual([]);
    expect(excerpt(resultOf("a file\n"))).toEqual([]);
    const error = { code: "not_found", message: "There is no a.txt." } as ToolResult["error"];
    expect(excerpt(resultOf("There is no a.txt.", { is_error: true, error }))).toEqual([]);
  });

  it("is all of it on request: text without escapes, a change as its diff", () => {
    const about = "npm test";
    expect(renderResult({ about, result: resultOf("a\u001b[1mb\u0007") }, colours)).toBe(
      "code.run_command npm test\nab\\u0007",
    );
    const data = { diff: "--- a\n+++ b\n" };
    expect(renderResult({ about: "", result: resultOf("Edited.", { data }) }, colours)).toBe(
      "code.run_command\n--- a\n+++ b",
    );
  });

  it("walks back from the newest, from the beginning once one was added, and keeps a bounded number", () => {
    const results = createShownResults();
    for (let at = 0; at < 150; at += 1) results.add({ about: `${at}`, result: resultOf("x") });
    expect(results.count).toBe(100);
    expect([results.next(), results.next()].map((at) => results.at(at)?.about)).toEqual([
      "149",
      "148",
    ]);
    results.add({ about: "new", result: resultOf("x") });
    expect(results.at(results.next())?.about).toBe("new");
    for (let at = 0; at < 99; at += 1) results.next();
    expect(results.next()).toBe(1);
  });

  it("keeps the last answer as it was written", () => {
    const results = createShownResults();
    for (const text of ["**a", "b**"]) results.say(text);
    results.answered();
    expect(results.answer).toBe("**ab**");
    results.say("c");
    expect(results.answer).toBe("c");
  });
});

it.each([
  ["", { number: 1 }],
  ["3", { number: 3 }],
  ["3  2", { number: 3, page: 2 }],
  ["0", undefined],
  ["x", undefined],
  ["1 2 3", undefined],
])("/output %s", (rest, expected) => {
  expect(readOutputWish(rest)).toEqual(expected);
});
