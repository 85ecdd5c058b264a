import { createHeldClock } from "@soong/core";
import { expect, test } from "vitest";
import { inTime } from "./in-time.ts";

const NEVER = new Promise<never>(() => {});

test("work that is done in time gives its value, and one that fails its error", async () => {
  const clock = createHeldClock();
  expect(await inTime(Promise.resolve(1), { ms: 10, clock })).toEqual({ kind: "done", value: 1 });
  await expect(inTime(Promise.reject(new Error("no")), { ms: 10, clock })).rejects.toThrow("no");
});

test("what takes longer is late, and what it comes to afterwards is dropped", async () => {
  const clock = createHeldClock();
  let fail = (_error: Error): void => {};
  const work = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const waiting = inTime(work, { ms: 10, clock });
  await clock.advance(10);
  expect(await waiting).toEqual({ kind: "late" });
  fail(new Error("too late"));
});

test("a signal ends the wait, also one that has fired before", async () => {
  const controller = new AbortController();
  const waiting = inTime(NEVER, { signal: controller.signal });
  controller.abort();
  expect(await waiting).toEqual({ kind: "aborted" });
  expect(await inTime(NEVER, { signal: controller.signal })).toEqual({ kind: "aborted" });
});
