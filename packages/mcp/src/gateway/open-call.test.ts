import type { ToolResult } from "@soong/core";
import { expect, it } from "vitest";
import { verifies } from "#laws";
import type { ClientAnswer, ClientQuestion } from "./client-question.ts";
import { createOpenCall, type Step, type Waiter } from "./open-call.ts";

const question = asks("m");
const declined: ClientAnswer = { kind: "elicitation", answer: { action: "decline" } };
const never = new AbortController().signal;
const free = { signal: never };
const result = { summary: "done" } as ToolResult;

function asks(message: string): ClientQuestion {
  return { kind: "elicitation", request: { mode: "form", message, requested_schema: {} } };
}

function questionsOf(step: Step): [string, ClientQuestion][] {
  return step.kind === "asks" ? [...step.questions] : [];
}

function waiter(more: Partial<Waiter> = {}): Waiter {
  return {
    request_id: 1,
    client: "host",
    signal: never,
    standsAlone: false,
    abilities: { form: true, url: false, sampling: true, roots: false },
    ...more,
  };
}

it("gives its place away while it waits for the user, and takes its question back when it ends", async () => {
  const call = createOpenCall(() => "f");
  const log: string[] = [];
  const place = {
    leave: () => void log.push("leave"),
    async again() {
      log.push("again");
    },
    end: () => void log.push("end"),
  };
  call.enters(place);
  let cancelled = false;
  const followed = call.follow(
    waiter({
      push: (_question, signal) =>
        new Promise((_resolve, reject) => {
          log.push("asked");
          signal.addEventListener("abort", () => {
            cancelled = true;
            reject(new Error("cancelled"));
          });
        }),
    }),
  );
  const asked = call.put(question, free);
  call.ends(result);
  await expect(asked).rejects.toThrow("cancelled");
  expect(cancelled).toBe(true);
  expect(log).toEqual(["leave", "asked", "end", "again"]);
  expect(await followed).toEqual({ kind: "ended", result });
});

it("ends one request with all its questions, and continues with the one that answers them", async () => {
  const call = createOpenCall(() => "f");
  const first = call.follow(waiter());
  const one = call.put(question, free);
  const step = await first;
  expect(call.can("form")).toBe(true);
  expect(call.can("url")).toBe(false);
  const two = call.put(asks("n"), free);
  const [key = ""] = questionsOf(step).map(([one]) => one);
  call.answer(new Map([[key, declined]]));
  expect(await one).toEqual(declined);
  const again = await call.follow(waiter({ request_id: 2 }));
  expect(questionsOf(again)).toMatchObject([[expect.any(String), { request: { message: "n" } }]]);
  call.ends(result);
  await expect(two).rejects.toThrow("the call has ended");
  expect(await call.follow(waiter())).toEqual({ kind: "ended", result });
});

it("is given up by the request that waits for it, and by no other", async () => {
  const call = createOpenCall(() => "f");
  const early = new AbortController();
  const followed = call.follow(waiter({ signal: early.signal }));
  void call.put(question, free).catch(() => {});
  await followed;
  early.abort();
  expect(call.unwanted.aborted).toBe(false);
  call.answer(new Map());
  const late = new AbortController();
  late.abort("cancelled");
  await call.follow(waiter({ signal: late.signal }));
  expect(call.unwanted.aborted).toBe(true);
});

it("counts for a tool that does not, and never backwards", async () => {
  const call = createOpenCall(() => "f");
  const updates: unknown[] = [];
  void call.follow(waiter({ progress: (update) => void updates.push(update) }));
  call.reached({ message: "a" });
  call.reached({ message: "b" });
  call.reached({ progress: 1 });
  call.reached({ progress: 7, total: 9 });
  call.reached({ message: "c" });
  expect(updates).toEqual([
    { progress: 1, message: "a" },
    { progress: 2, message: "b" },
    { progress: 7, total: 9 },
  ]);
  call.ends(result);
});

it("reports a tool with an empty prefix", () => {
  const call = createOpenCall(() => "f");
  const updates: unknown[] = [];
  void call.follow(waiter({ progress: (update) => void updates.push(update) }));
  call.reached({ progress: 0, total: 2 });
  call.reached({ progress: 0 });
  call.reached({ progress: 2, total: 2 });
  expect(updates).toEqual([
    { progress: 0, total: 2 },
    { progress: 2, total: 2 },
  ]);
  call.ends(result);
});

it("waits until all questions that come together have come, or will not come", async () => {
  verifies("MCP-5");
  const call = createOpenCall(() => "f");
  const settled = call.expect(["a", "b", "c"]);
  let step: Step | undefined;
  const followed = call.follow(waiter()).then((next) => {
    step = next;
    return next;
  });
  const first = call.put(asks("1"), { signal: never, key: "a" });
  await new Promise(setImmediate);
  expect(step).toBeUndefined();
  settled("b");
  await new Promise(setImmediate);
  expect(step).toBeUndefined();
  void call.put({ kind: "sampling", params: {} }, { signal: never, key: "c" }).catch(() => {});
  expect(questionsOf(await followed).map(([key]) => key)).toEqual(["a", "c"]);
  // An answer of another kind is none.
  call.answer(new Map([["a", { kind: "roots", result: {} }]]));
  expect(questionsOf(await call.follow(waiter())).map(([key]) => key)).toEqual(["a", "c"]);
  call.answer(new Map([["a", declined]]));
  expect(await first).toEqual(declined);
  call.ends(result);
});

it("takes an answer that was brought along, once, for the question of that name and kind", async () => {
  verifies("MCP-5");
  const call = createOpenCall(() => "f", new Map([["name", declined]]));
  const followed = call.follow(waiter());
  const signal = AbortSignal.any([never]);
  void call.put({ kind: "roots" }, { signal, key: "name" }).catch(() => {});
  const [key] = questionsOf(await followed).map(([one]) => one);
  expect(key).toBe("name");
  expect(await call.put(question, { signal, key: "name" })).toEqual(declined);
  void call.put(question, { signal, key: "name" }).catch(() => {});
  void call.put(question, { signal }).catch(() => {});
  const keys = questionsOf(await call.follow(waiter())).map(([one]) => one);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(3);
  call.ends(result);
});

it("gives its place back once for all it waits for at a time", async () => {
  const call = createOpenCall(() => "f");
  const log: string[] = [];
  call.enters({
    leave: () => void log.push("leave"),
    async again() {
      log.push("again");
    },
    end: () => void log.push("end"),
  });
  const asked = call.follow(waiter());
  const both = [call.put(asks("1"), free), call.put(asks("2"), free)];
  const keys = questionsOf(await asked).map(([key]) => key);
  call.answer(new Map([[keys[0]!, declined]]));
  await both[0];
  expect(log).toEqual(["leave", "leave"]);
  call.answer(new Map([[keys[1]!, declined]]));
  await both[1];
  expect(log).toEqual(["leave", "leave", "again"]);
  call.ends(result);
  await expect(call.put(question, free)).rejects.toThrow("the call has ended");
});
