import { setTimeout as delay } from "node:timers/promises";
import type { ClusterStorage, WorkerReport } from "@soong/store";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { JobQueue } from "../queue/index.ts";
import { runWorker } from "./run-worker.ts";
import type { WorkerHost } from "./worker-host.ts";

/** Reports arrive as late as they can: the later they were sent, the sooner. */
function stage({ take }: { readonly take: JobQueue["take"] }) {
  const rows = new Map<string, WorkerReport>();
  const drain = new AbortController();
  let sent = 0;
  let woken = (): void => {};
  const cluster = {
    clockOffsetMs: async () => 0,
    async reportWorker(worker: WorkerReport) {
      sent += 1;
      await delay(40 / sent);
      rows.set(worker.worker_id, worker);
      return { draining: false };
    },
    async removeWorker(worker_id: string) {
      rows.delete(worker_id);
    },
    async drainWorker() {
      woken();
    },
    listen(_topic: string, listener: () => void) {
      woken = listener;
      return () => {};
    },
  } as unknown as ClusterStorage;
  const run = () =>
    runWorker({
      host: { tasks: { leaseMs: 3_000 }, report() {} } as unknown as WorkerHost,
      cluster,
      queue: { take } as unknown as JobQueue,
      worker_id: "w1",
      pool: "builders",
      concurrency: 1,
      version: "1",
      drain: drain.signal,
      graceMs: 1_000,
    });
  return { rows, drain, run, wake: () => woken(), countSent: () => sent };
}

test("a worker that has ended is not listed again by a report that comes late", async () => {
  verifies("DIST-1");
  const { rows, drain, run, wake } = stage({
    take: async () => ({ drain: async () => {}, close: async () => {} }),
  });
  const running = run();
  await delay(50);
  expect([...rows.keys()]).toEqual(["w1"]);
  wake();
  drain.abort();
  expect(await running).toEqual({ stopped: 0 });
  wake();
  await delay(50);
  expect([...rows.keys()]).toEqual([]);
});

test("a worker that cannot take jobs is not listed", async () => {
  verifies("DIST-1");
  const { rows, run } = stage({ take: () => Promise.reject(new Error("The queue is away.")) });
  await expect(run()).rejects.toThrow("The queue is away.");
  expect([...rows.keys()]).toEqual([]);
});

test("reports do not pile up while the store does not answer", async () => {
  const { drain, run, wake, countSent } = stage({
    take: async () => ({ drain: async () => {}, close: async () => {} }),
  });
  const running = run();
  await delay(50);
  const before = countSent();
  for (let i = 0; i < 100; i += 1) wake();
  drain.abort();
  await running;
  expect(countSent() - before).toBeGreaterThanOrEqual(1);
  expect(countSent() - before).toBeLessThanOrEqual(2);
});
