import type { ElicitationRequest, ToolResult } from "@soong/core";
import { expect, it } from "vitest";
import { createOpenCall, type Waiter } from "./open-call.ts";

const question: ElicitationRequest = { mode: "form", message: "m", requested_schema: {} };
const never = new AbortController().signal;
const result = { summary: "done" } as ToolResult;

function waiter(more: Partial<Waiter> = {}): Waiter {
  return {
    request_id: 1,
    client: "host",
    signal: never,
    modes: { form: true, url: false },
    ...more,
  };
}

it("gives its place away while it waits for a person, and takes its question back when it ends", async () => {
  const call = createOpenCall("f");
  const log: string[] = [];
  const place = {
    leave: () => void log.push("leave"),
    async again() {
      log.push("again");
    },
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
  const asked = call.put(question, never);
  call.ends(result);
  await expect(asked).rejects.toThrow("cancelled");
  expect(cancelled).toBe(true);
  expect(log).toEqual(["leave", "asked", "leave", "again"]);
  expect(await followed).toEqual({ kind: "ended", result });
});

it("ends one request with all its questions, and goes on with the one that answers them", async () => {
  const call = createOpenCall("f");
  const first = call.follow(waiter());
  const one = call.put(question, never);
  const step = await first;
  expect(call.isAttached).toBe(false);
  expect(call.canAnswer("form")).toBe(true);
  expect(call.canAnswer("url")).toBe(false);
  const two = call.put({ ...question, message: "n" }, never);
  const [key = ""] = step.kind === "asks" ? step.questions.keys() : [];
  call.answer(new Map([[key, { action: "decline" }]]));
  expect(await one).toEqual({ action: "decline" });
  const again = await call.follow(waiter({ request_id: 2 }));
  expect(again.kind === "asks" ? [...again.questions.values()] : []).toMatchObject([
    { message: "n" },
  ]);
  call.ends(result);
  await expect(two).rejects.toThrow("the call has ended");
  expect(await call.follow(waiter())).toEqual({ kind: "ended", result });
});

it("is given up by the request that waits for it, and by no other", async () => {
  const call = createOpenCall("f");
  const early = new AbortController();
  const followed = call.follow(waiter({ signal: early.signal }));
  void call.put(question, never).catch(() => {});
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
  const call = createOpenCall("f");
  const told: unknown[] = [];
  void call.follow(waiter({ progress: (update) => void told.push(update) }));
  call.reached({ message: "a" });
  call.reached({ message: "b" });
  call.reached({ progress: 1 });
  call.reached({ progress: 7, total: 9 });
  call.reached({ message: "c" });
  expect(told).toEqual([
    { progress: 1, message: "a" },
    { progress: 2, message: "b" },
    { progress: 7, total: 9 },
  ]);
  call.ends(result);
});
