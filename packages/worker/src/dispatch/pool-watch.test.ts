import type { Store, WorkerRecord } from "@soong/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "#laws";
import { LOST_AFTER_MS, REPORT_MS, watchPool } from "./pool-watch.ts";

const WORK = {
  pool: "builders",
  task_id: "task_1",
  step_id: "plan",
  agent_definition_id: "builder",
  definition_digest: "d",
  from: { session_id: "s", run_id: "r", agent_id: "a", tool_call_id: "c" },
};
const ABSENT_MS = 30_000;

/** `outage`: how long the next look waits for its answer. */
function stage() {
  const clock = { now: 0, outage: 0 };
  const spy = vi.spyOn(performance, "now").mockImplementation(() => clock.now);
  onTestFinished(() => spy.mockRestore());
  let workers: readonly Partial<WorkerRecord>[] = [{ pool: "builders", draining: false }];
  const store = {
    cluster: {
      async workers() {
        clock.now += clock.outage;
        clock.outage = 0;
        return workers;
      },
    },
  } as unknown as Store;
  const watch = watchPool(store, WORK, ABSENT_MS);
  return {
    clock,
    leave: () => void (workers = []),
    look: () => watch.look({ isFresh: true }),
  };
}

test.each(["before a look", "during a look"])(
  "after an outage that begins %s, workers have time to report again",
  async (when) => {
    verifies("DIST-2");
    const { clock, leave, look } = stage();
    await look();
    // Their last reports are too old, and the next ones have not come yet.
    leave();
    if (when === "before a look") clock.now += ABSENT_MS + LOST_AFTER_MS;
    else clock.outage = ABSENT_MS + LOST_AFTER_MS;
    expect(await look()).toMatchObject({ isDeserted: false, isEmpty: false });
    clock.now += REPORT_MS;
    expect(await look()).toMatchObject({ isDeserted: false, isEmpty: true });
  },
);

test("a pool is deserted when it had no worker for a while, as seen all the time", async () => {
  verifies("DIST-1");
  const { clock, leave, look } = stage();
  leave();
  for (; clock.now < ABSENT_MS; clock.now += REPORT_MS) {
    expect(await look()).toMatchObject({ isDeserted: false, isEmpty: true });
  }
  clock.now += REPORT_MS;
  expect(await look()).toMatchObject({ isDeserted: true });
});
