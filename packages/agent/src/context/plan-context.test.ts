import fc from "fast-check";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { anyPath, answer, node, result, user } from "../../../../test/agent/conversation-nodes.ts";
import { cutMiddle } from "./nodes.ts";
import {
  estimateMessageTokens,
  estimateTextTokens,
  estimateToolTokens,
  planContext,
  ContextBook,
} from "./context-book.ts";
import { toModelMessages } from "./messages.ts";

test("a result of 400 kB counts as what it is", () => {
  verifies("CTX-3");
  const { units } = new ContextBook([
    user("go"),
    answer("", "1"),
    result("1", "x".repeat(400_000)),
  ]);
  expect(estimateMessageTokens(toModelMessages(units, "m"))).toBeGreaterThan(100_000);
  const called = answer("", "1");
  called.data = {
    role: "assistant",
    calls: [{ tool_call_id: "1", name: "a", arguments: "y".repeat(4000) }],
  };
  expect(
    estimateMessageTokens(toModelMessages(new ContextBook([called]).units, "m")),
  ).toBeGreaterThan(1000);
  const tool = { name: "a", description: "d".repeat(400), input_schema: {} };
  expect(estimateToolTokens([tool])).toBeGreaterThan(100);
});

test("a call and its results stay or go together, and what was asked is noted", () => {
  verifies("CTX-3");
  const path = [
    user("Build the house"),
    answer("", "1"),
    result("1", "x".repeat(4000)),
    user("In red"),
    answer("", "1"),
    result("1", "x".repeat(4000)),
    answer("", "2"),
    result("2", "y".repeat(400)),
  ];
  const { kept, omitted, note, tokens } = planContext(new ContextBook(path).units, 250);
  expect(kept.map(({ nodes }) => nodes.length)).toEqual([2]);
  expect(omitted).toHaveLength(4);
  expect(note).toContain("The task, as first asked: Build the house");
  expect(note).toContain("Last asked in them: In red");
  expect(tokens).toBeLessThanOrEqual(250);
});

test("a summary stays, for it is all there is of what came before it", () => {
  verifies("CTX-3", "CTX-2");
  const summary = node("compaction", "It went so.", { data: {} });
  const { units } = new ContextBook([summary, user("x".repeat(4000)), answer("b"), user("c")]);
  const { kept, omitted } = planContext(units, 300);
  expect(kept.map(({ kind }) => kind)).toEqual(["summary", "answer", "user"]);
  expect(omitted).toHaveLength(1);
});

test("nothing that fits is omitted", () => {
  verifies("CTX-3");
  const { units } = new ContextBook([user("a"), answer("b"), user("c")]);
  const plan = planContext(units, 1000);
  expect(plan).toMatchObject({ kept: units, omitted: [] });
  expect(plan.note).toBeUndefined();
});

test("for any conversation and budget, whole units are kept, newest first, and they fit if any do", () => {
  verifies("CTX-3");
  fc.assert(
    fc.property(anyPath(), fc.nat(400), (path, budget) => {
      const { units } = new ContextBook(path);
      const { kept, omitted, note, tokens } = planContext(units, budget);
      expect([...omitted, ...kept]).toEqual(units);
      if (units.length > 0) expect(kept.at(-1)).toBe(units.at(-1));
      const sent = kept.reduce(
        (sum, unit) => sum + estimateMessageTokens(toModelMessages([unit], "m")),
        0,
      );
      expect(tokens).toBe(sent + estimateTextTokens(note ?? ""));
      if (kept.length > 1) expect(tokens).toBeLessThanOrEqual(budget);
      expect(note === undefined).toBe(omitted.length === 0);
      const asked = omitted.find(({ kind }) => kind === "user")?.nodes[0]?.content[0];
      if (asked?.type === "text") expect(note).toContain(asked.text);
    }),
  );
});

test("a cut text keeps both ends and splits no character", () => {
  verifies("CTX-3");
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 80 }),
      fc.integer({ min: 2, max: 40 }),
      (text, most) => {
        const cut = cutMiddle(text, most);
        if (text.length <= most) expect(cut).toBe(text);
        expect(() => encodeURIComponent(cut)).not.toThrow();
      },
    ),
  );
  expect(cutMiddle("a".repeat(50) + "b".repeat(50), 10)).toBe(
    "aaaaa\n[… 90 characters omitted …]\nbbbbb",
  );
});
