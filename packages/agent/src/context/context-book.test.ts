import type { ConversationNode } from "@soong/core";
import fc from "fast-check";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { anyPath, answer, node, result, user } from "../../../../test/agent/conversation-nodes.ts";
import type { ModelMessage } from "../model/index.ts";
import { readInstructionBlocks, answerNode, hookNode, userNode } from "./nodes.ts";
import { ContextBook } from "./context-book.ts";
import { snapshotMessages, toModelMessages } from "./messages.ts";

const place = { node_id: "n", session_id: "s", run_id: "r", agent_id: "a" };

test("messages become nodes and the same messages again", () => {
  verifies("LOOP-4", "CTX-3");
  const calls = [{ tool_call_id: "1", name: "a__b", arguments: '{"x": 1 }' }];
  const path = [
    userNode(place, [{ type: "text", text: "go" }]),
    answerNode(place, { model: "m", text: "I look", calls, provider_data: { s: 1 } }),
    result("1", "found"),
    hookNode(place, "noted"),
    answerNode(place, { model: "m", text: "done", calls: [] }),
  ];
  const stored = JSON.parse(JSON.stringify(path)) as typeof path;
  expect(toModelMessages(new ContextBook(stored).units, "m")).toEqual([
    { role: "user", content: [{ type: "text", text: "go" }] },
    { role: "assistant", text: "I look", calls, provider_data: { s: 1 } },
    {
      role: "tool",
      results: [
        {
          tool_call_id: "1",
          name: "a__b",
          content: [{ type: "text", text: "found" }],
          is_error: false,
        },
      ],
    },
    { role: "user", content: [{ type: "text", text: "noted" }] },
    { role: "assistant", text: "done", calls: [] },
  ]);
});

test("a call without a result gets one, and a result without its call is omitted and named", () => {
  verifies("CTX-3");
  const stray = result("9", "stray");
  const second = result("2", "two again");
  const { units, orphans } = new ContextBook([
    user("go"),
    answer("", "1", "2"),
    stray,
    result("2", "two"),
    second,
  ]);
  expect(orphans).toEqual([stray, second]);
  expect(toModelMessages(units, "m").at(-1)).toMatchObject({
    role: "tool",
    results: [
      { tool_call_id: "1", is_error: true },
      { tool_call_id: "2", content: [{ type: "text", text: "two" }], is_error: false },
    ],
  });
});

test("results come in the order of their calls, in any stored order", () => {
  verifies("CTX-3");
  const path = [user("go"), answer("", "1", "2"), result("2", "b"), result("1", "a", true)];
  expect(toModelMessages(new ContextBook(path).units, "m").at(-1)).toMatchObject({
    results: [
      { tool_call_id: "1", is_error: true },
      { tool_call_id: "2", is_error: false },
    ],
  });
});

test("instructions are system text, each once, and in no message", () => {
  verifies("CTX-1");
  const rule = node("instruction_context", "Use tabs.");
  const path = [user("go"), answer("", "1"), result("1", "read"), rule, user("more"), { ...rule }];
  const { units } = new ContextBook(path);
  expect(readInstructionBlocks(path).blocks.map((block) => block.node)).toEqual([rule]);
  expect(JSON.stringify(toModelMessages(units, "m"))).not.toContain("tabs");
});

test("a message no one of ours has written does not become one", () => {
  verifies("CTX-3");
  const odd = node("message", "x", { data: { role: "assistant", calls: [null, { name: 1 }] } });
  const { units } = new ContextBook([user("go"), odd]);
  expect(toModelMessages(units, "m").at(-1)).toEqual({ role: "assistant", text: "x", calls: [] });
});

test("for any path, every call has one result, every result its call, and no two user messages meet", () => {
  verifies("CTX-3");
  fc.assert(
    fc.property(anyPath(), (path) => {
      expect(problemsOf(toModelMessages(new ContextBook(path).units, "m"))).toEqual([]);
    }),
  );
});

test("a conversation that is read as it grows reads as it would from the beginning", () => {
  verifies("LOOP-5", "CTX-3");
  const models = fc.array(fc.constantFrom("m", "other"), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(anyPath(), models, (path, readers) => {
      const book = new ContextBook();
      const earlier: { units: number; model: string; read: string }[] = [];
      for (const [i, next] of path.entries()) {
        book.add(next);
        const model = readers[i % readers.length] ?? "m";
        const read = toModelMessages(book.units, model);
        const anew = new ContextBook(path.slice(0, i + 1)).units;
        expect(read).toEqual(toModelMessages(anew, model));
        earlier.push({ units: book.units.length, model, read: JSON.stringify(read) });
      }
      // What was sent before a new unit began can be read again: a request is repeated with another model.
      for (const [i, { units, model, read }] of earlier.entries()) {
        if (earlier[i + 1]?.units === units) continue;
        expect(JSON.stringify(toModelMessages(book.units, model, units))).toBe(read);
      }
    }),
  );
});

test("the messages of a request are those of its time, however late they are read", () => {
  verifies("LOOP-5");
  fc.assert(
    fc.property(anyPath(), (path) => {
      const book = new ContextBook();
      const requests = path.map((next, i) => {
        book.add(next);
        const snapshot = snapshotMessages(book.units, "m");
        snapshot.addText("board");
        const anew = snapshotMessages(new ContextBook(path.slice(0, i + 1)).units, "m");
        anew.addText("board");
        return { snapshot, expected: JSON.stringify(anew.toArray()) };
      });
      for (const { snapshot, expected } of requests) {
        expect(JSON.stringify(snapshot.toArray())).toBe(expected);
        expect(snapshot.toArray()).toBe(snapshot.toArray());
      }
    }),
  );
});

function problemsOf(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message, i) => {
    const next = messages[i + 1];
    if (message.role === "user") return next?.role === "user" ? ["two user messages"] : [];
    if (message.role === "tool") {
      const before = messages[i - 1];
      return before?.role === "assistant" && before.calls.length > 0 ? [] : ["orphan results"];
    }
    const asked = message.calls.map(({ tool_call_id }) => tool_call_id);
    if (new Set(asked).size !== asked.length) return ["one id twice"];
    if (asked.length === 0) return message.text === "" ? ["an empty message"] : [];
    const answered = next?.role === "tool" ? next.results.map((one) => one.tool_call_id) : [];
    return JSON.stringify(asked) === JSON.stringify(answered) ? [] : ["orphan calls"];
  });
}

test("messages are the same objects as long as nothing of their unit has changed, and no longer", () => {
  verifies("CTX-3");
  const asked = user("go");
  const called = answer("", "1");
  const extra = { ...called, data: { ...called.data, provider_data: { a: 1 } } };
  const read = (model: string, ...path: ConversationNode[]) =>
    toModelMessages(new ContextBook(path).units, model);
  const first = read("m", asked, extra, result("1", "one"));
  const results = [result("1", "two"), result("1", "three")] as const;
  const book = new ContextBook([asked, extra, results[0]]);
  const second = toModelMessages(book.units, "m");
  expect(JSON.stringify(first)).toContain("one");
  expect(JSON.stringify(second)).toContain("two");
  book.add(user("more"));
  const again = toModelMessages(book.units, "m");
  expect(again.slice(0, 3).every((message, i) => message === second[i])).toBe(true);
  expect(JSON.stringify(read("m", asked, extra, results[1]))).toContain("three");
  expect(JSON.stringify(read("m", asked, extra))).toContain("was not started");
  expect(
    JSON.stringify(read("m", asked, extra, results[0], node("hook_context", "noted"))),
  ).toContain("noted");
  expect(read("m", asked, extra, results[0])[1]).toHaveProperty("provider_data");
  expect(read("other", asked, extra, results[0])[1]).not.toHaveProperty("provider_data");
  expect(read("m", asked, user("more"))).toEqual([
    { role: "user", content: [...asked.content, { type: "text", text: "more" }] },
  ]);
  expect(read("m", asked)).toEqual([{ role: "user", content: asked.content }]);
});
