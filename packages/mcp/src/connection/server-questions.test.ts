import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { AskedHost } from "./connected-server.ts";
import { McpRequestFailure } from "./failure.ts";
import {
  answerQuestion,
  answerQuestions,
  listCapabilities,
  refusalFor,
  type AskedCall,
} from "./server-questions.ts";

const { signal } = new AbortController();
const form = {
  method: "elicitation/create",
  params: { message: "?", requestedSchema: { type: "object", properties: {} } },
};
const sampling = { method: "sampling/createMessage", params: { maxTokens: 1 } };
const roots = { method: "roots/list" };

function call(more: Partial<AskedCall> = {}): AskedCall {
  return { untilEnd: () => signal, asked: { all: 0, open: 0 }, ...more };
}

const host = (more: Partial<AskedHost> = {}): AskedHost => ({
  sampling: true,
  roots: true,
  answer: ({ method }) => Promise.resolve({ method }),
  ...more,
});

describe("a question of a server", () => {
  test("goes to the caller; without one it is a no", async () => {
    verifies("MCP-5");
    const asked = call({
      onElicitation: () => Promise.resolve({ action: "accept", content: { a: 1 } }),
      host: host(),
    });
    expect(await answerQuestion(form, asked, { signal })).toEqual({
      action: "accept",
      content: { a: 1 },
    });
    expect(await answerQuestion(sampling, asked, { signal })).toEqual({ method: sampling.method });
    expect(await answerQuestion(roots, asked, { signal })).toEqual({ method: roots.method });
    expect(asked.asked).toEqual({ all: 3, open: 0 });
    expect(await answerQuestion(form, undefined, { signal })).toEqual({ action: "decline" });
    await expect(answerQuestion(sampling, undefined, { signal })).rejects.toMatchObject({
      reason: "refused",
    });
    const none = { reason: "refused", code: -32_021 };
    await expect(answerQuestion(roots, call(), { signal })).rejects.toMatchObject(none);
    for (const [question, lacking] of [
      [sampling, { sampling: false }],
      [roots, { roots: false }],
    ] as const) {
      const lacks = answerQuestion(question, call({ host: host(lacking) }), { signal });
      await expect(lacks).rejects.toMatchObject(none);
    }
    const odd = answerQuestion({ method: "tools/call" }, asked, { signal });
    await expect(odd).rejects.toMatchObject({ reason: "invalid_answer" });
  });

  test("is not the seventeenth that is open, nor the two hundred and first", async () => {
    verifies("MCP-5");
    let answers: (() => void)[] = [];
    const slow = call({
      onElicitation: () =>
        new Promise((resolve) => {
          answers.push(() => resolve({ action: "cancel" }));
        }),
      host: host(),
    });
    const many = Array.from({ length: 17 }, () => answerQuestion(form, slow, { signal }));
    expect(await many[16]).toEqual({ action: "decline" });
    await expect(answerQuestion(roots, slow, { signal })).rejects.toMatchObject({
      reason: "refused",
      message: expect.stringContaining("too many") as string,
    });
    for (const answer of answers.splice(0)) answer();
    const actions = (await Promise.all(many)).map(({ action }) => action);
    expect(actions.filter((action) => action === "cancel")).toHaveLength(16);
    expect(await answerQuestion(roots, slow, { signal })).toEqual({ method: roots.method });
    const tired = call({ host: host(), asked: { all: 200, open: 0 } });
    await expect(answerQuestion(roots, tired, { signal })).rejects.toThrow("too many");
    answers = [];
  });

  test("comes with others under the names the server gave, each reported when it is handled", async () => {
    verifies("MCP-5");
    const watched: string[] = [];
    const keys: (string | undefined)[] = [];
    const asked = call({
      onElicitation: (_request, options) => {
        keys.push(options.key);
        return Promise.resolve({ action: "decline" });
      },
      host: host(),
      onQuestions: (all) => {
        watched.push(`all ${all.join()}`);
        return (key) => void watched.push(key);
      },
    });
    // One that makes no sense is declined, and holds up none of the others.
    const odd = { method: "elicitation/create", params: { message: 7 } };
    expect(await answerQuestions({ a: form, b: roots, c: odd }, asked)).toEqual({
      a: { action: "decline" },
      b: { method: "roots/list" },
      c: { action: "decline" },
    });
    expect(keys).toEqual(["a"]);
    expect(watched[0]).toBe("all a,b,c");
    expect(watched.slice(1).toSorted()).toEqual(["a", "b", "c"]);
    expect(await answerQuestions(undefined, asked)).toEqual({});
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`q${i}`, form]));
    await expect(answerQuestions(many, asked)).rejects.toMatchObject({ reason: "invalid_answer" });
    await expect(answerQuestions({ a: 7 }, asked)).rejects.toMatchObject({
      reason: "invalid_answer",
    });
  });
});

test("a server is offered only what the caller can answer and the connection may offer", () => {
  verifies("MCP-5");
  const all = { canElicit: true, canSample: true, canListRoots: true };
  expect(listCapabilities({}, "any")).toEqual({});
  expect(listCapabilities(all, "any")).toEqual({
    elicitation: { form: {}, url: {} },
    sampling: {},
    roots: {},
  });
  expect(listCapabilities(all)).toEqual({ elicitation: { form: {}, url: {} } });
  expect(listCapabilities({ canSample: true }, host())).toEqual({ sampling: {} });
  expect(listCapabilities({ canListRoots: true }, host())).toEqual({ roots: {} });
  expect(listCapabilities(all, host({ sampling: false }))).not.toHaveProperty("sampling");
  expect(listCapabilities(all, host({ roots: false }))).not.toHaveProperty("roots");
});

test("a refusal is reported to the server in its own era's words", () => {
  const missing = new McpRequestFailure("refused", "not here", { code: -32_021 });
  expect(refusalFor(missing)).toMatchObject({ code: -32_601, message: "not here" });
  expect(refusalFor(new McpRequestFailure("refused", "no", { code: -1 }))).toMatchObject({
    code: -1,
  });
  expect(refusalFor(new McpRequestFailure("refused", "no"))).toMatchObject({ code: -32_600 });
  const other = refusalFor(new Error("secret inside"));
  expect(other).toMatchObject({ code: -32_603 });
  expect(other.message).not.toContain("secret");
});
