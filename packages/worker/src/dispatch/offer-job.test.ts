import type { EarlierAttempt, StepRecord } from "@soong/tasks";
import { expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "#laws";
import type { Job, JobQueue } from "../queue/index.ts";
import { createJobOffer } from "./offer-job.ts";

const WORK = {
  pool: "builders",
  task_id: "task_1",
  step_id: "plan",
  agent_definition_id: "builder",
  definition_digest: "d",
  from: { session_id: "s", run_id: "r", agent_id: "a", tool_call_id: "c" },
  guards: [],
};
const EVERY_MS = 20_000;

/** A step, its offers by the held clock, and what ends its attempts. */
function stage() {
  const clock = { now: 0 };
  const spy = vi.spyOn(performance, "now").mockImplementation(() => clock.now);
  onTestFinished(() => spy.mockRestore());
  const offers: number[] = [];
  const take = async (_pool: string, _job: Job | string): Promise<true> => {
    offers.push(clock.now);
    return true;
  };
  const queue = { add: take, replace: take } as unknown as JobQueue;
  const { signal } = new AbortController();
  const options = { absentMs: 30_000, everyMs: EVERY_MS, signal, onWaiting() {} };
  const offer = createJobOffer(async () => queue, WORK, options);
  let earlier: EarlierAttempt[] = [];
  return {
    clock,
    offers,
    giveBack: () => {
      const about = { attempt: 1, outcome: "stopped", message: "", run_id: "run_1" } as const;
      earlier = [...earlier, { ...about, at: String(clock.now) }];
    },
    look: () =>
      offer({ task_id: "task_1", step_id: "plan", attempts: 0, earlier } as unknown as StepRecord),
  };
}

test("a ready step is offered every so often, and at once when its worker has given it back", async () => {
  verifies("DIST-2");
  const { clock, offers, giveBack, look } = stage();
  for (; clock.now <= EVERY_MS; clock.now += 1_000) await look();
  expect(offers).toEqual([0, EVERY_MS]);
  giveBack();
  await look();
  expect(offers).toEqual([0, EVERY_MS, clock.now]);
});

test("a step that no worker can begin is offered ever later", async () => {
  verifies("DIST-1");
  const { clock, offers, giveBack, look } = stage();
  for (; clock.now < 60_000; clock.now += 100) {
    const before = offers.length;
    await look();
    // As by a worker whose disk is full.
    if (offers.length > before) giveBack();
  }
  const pauses = offers.slice(1).map((at, index) => at - (offers[index] ?? 0));
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, EVERY_MS]);
});
