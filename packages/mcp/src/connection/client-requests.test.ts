import { createHeldClock } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { startCallTimer } from "./client-requests.ts";

function stage(ms: number) {
  const clock = createHeldClock();
  const over: number[] = [];
  const timer = startCallTimer(clock, ms, () => over.push(clock.now()));
  return { clock, over, timer };
}

test("paused time does not count", async () => {
  verifies("MCP-5");
  const { clock, over, timer } = stage(100);
  await clock.advance(60);
  const [release, releaseOther] = [timer.hold(), timer.hold()];
  await clock.advance(1000);
  release();
  release();
  await clock.advance(1000);
  releaseOther();
  await clock.advance(39);
  expect(over).toEqual([]);
  await clock.advance(1);
  expect(over).toEqual([2100]);
});

test("a restart gives the whole time again, though not while it is held", async () => {
  verifies("MCP-4");
  const { clock, over, timer } = stage(100);
  await clock.advance(90);
  timer.restart();
  await clock.advance(90);
  const release = timer.hold();
  timer.restart();
  await clock.advance(1000);
  expect(over).toEqual([]);
  release();
  await clock.advance(99);
  expect(over).toEqual([]);
  await clock.advance(1);
  expect(over).toEqual([1280]);
});

test("what has stopped, or is over, stays so", async () => {
  const stopped = stage(100);
  const release = stopped.timer.hold();
  stopped.timer.stop();
  release();
  stopped.timer.restart();
  expect(stopped.clock.pending).toBe(0);
  const over = stage(100);
  await over.clock.advance(100);
  over.timer.restart();
  over.timer.hold()();
  await over.clock.advance(1000);
  expect(over.over).toEqual([100]);
});
