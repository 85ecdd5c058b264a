import { KERNEL_FACT_TEXTS, type FactType } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { writtenFact } from "../../../../test/facts.ts";
import { richSession } from "../../../../test/core/rich-session.ts";
import { factLine } from "./fact-line.ts";

const fact = (type: FactType, data: unknown = {}) => writtenFact({ seq: 7, type, data });
const textOf = (type: FactType, data: unknown = {}) => factLine(fact(type, data)).text;

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
    expect(lines.get("input.mutated")).toBe("input changed by hook:mutate (text)");
    expect(lines.get("hook.denied")).toBe('deny denied it: the hook "deny" refused this call');
    expect(lines.get("permission.failed")).toContain("asking failed: the window is closed");
    expect(lines.get("output.redacted")).toBe("1 secret hidden");
    expect(lines.get("output.truncated")).toMatch(
      /^output cut from \d+ to \d+ characters; all of it is in \S+$/,
    );
    expect(lines.get("tool.skipped")).toMatch(/^skipped: \S/);
    expect(lines.get("tool.progress")).toBe("1 of 2: half");
  });

  it("is bounded, one line, and there for data that is not as expected", () => {
    const long = factLine(
      fact("tool.requested", { model_input: { path: `${"😀".repeat(9000)}\n` } }),
    );
    expect(Array.from(long.text)).toHaveLength(160);
    expect(long.text.endsWith("…")).toBe(true);
    expect(Array.from(textOf("error", { message: "a\u202Eb\n".repeat(9000) }))).toHaveLength(300);
    expect(textOf("error", { message: "a\u202Eb\u0007\nc" })).toBe("a b c");
    for (const type of [...Object.keys(KERNEL_FACT_TEXTS), "something.new"]) {
      for (const data of [
        null,
        [],
        "text",
        7,
        { result: 1, request: "x", counts: [], tools: {} },
      ]) {
        expect(() => factLine(fact(type as FactType, data)), type).not.toThrow();
      }
    }
    expect(textOf("something.new" as FactType, { message: "A new thing." })).toBe("A new thing.");
    expect(textOf("toString" as FactType)).toBe("");
    expect(textOf("tool.completed", {})).toBe("completed");
  });
});
