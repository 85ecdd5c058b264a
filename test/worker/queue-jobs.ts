// What every engine of the job queue does with a job.

import { expect, test, vi } from "vitest";
import { createGate, newPool, openQueue, recordJobs, WAIT, waitForCount } from "./queue-stage.ts";

export function describeJobs(useUrl: () => Promise<string>): void {
  test("a job is delivered as it was added, with any id, pool and data", async () => {
    const queue = await openQueue(await useUrl());
    const ids = ["0", "12", "a:b", "a:b:c", "a%3Ab", "task/step/1", "ü 🙂", "x".repeat(500)];
    const data = { text: "\u0000 \u{1f642} \"'\\", list: [1, null, { deep: true }], 数: -1.5e300 };
    const pool = newPool();
    // Two names that would be one if ":" were merely encoded, and the rest not.
    const pools = [`${pool}:`, `${pool}%3A`];
    for (const pool of pools) {
      for (const id of ids) await queue.add(pool, { id, data: { ...data, pool } });
      expect(await queue.count(pool)).toEqual({ waiting: ids.length, active: 0 });
    }
    for (const pool of pools) {
      const handler = recordJobs();
      await queue.take(pool, { concurrency: 2, handle: handler.handle });
      await waitForCount(queue, pool, { waiting: 0, active: 0 });
      expect(handler.ids.toSorted()).toEqual(ids.toSorted());
      for (const job of handler.jobs) expect(job.data).toEqual({ ...data, pool });
    }
  });

  test("the same id is one job while it waits or runs, and a new one after it has ended", async () => {
    const queue = await openQueue(await useUrl());
    const pool = newPool();
    const job = { id: "t/s/1", data: {} };
    await Promise.all([queue.add(pool, job), queue.add(pool, job), queue.add(pool, job)]);
    expect(await queue.count(pool)).toEqual({ waiting: 1, active: 0 });
    const gate = createGate();
    const handler = recordJobs(async () => {
      await gate.opened;
      return "done";
    });
    await queue.take(pool, { concurrency: 5, handle: handler.handle });
    await waitForCount(queue, pool, { waiting: 0, active: 1 });
    await queue.add(pool, job);
    expect(await queue.count(pool)).toEqual({ waiting: 0, active: 1 });
    gate.open();
    await waitForCount(queue, pool, { waiting: 0, active: 0 });
    expect(handler.ids).toEqual(["t/s/1"]);
    await queue.add(pool, job);
    await vi.waitFor(() => expect(handler.ids).toEqual(["t/s/1", "t/s/1"]), WAIT);
  });

  test("a job that a worker keeps or has put off is replaced, and one that waits is not", async () => {
    const queue = await openQueue(await useUrl());
    const pool = newPool();
    const job = (id: string) => ({ id, data: {} });
    await queue.add(pool, job("waits"));
    expect(await queue.replace(pool, "waits", job("waits.1"))).toBe(false);
    expect(await queue.count(pool)).toEqual({ waiting: 1, active: 0 });
    const gate = createGate();
    const handler = recordJobs(async ({ id }) => {
      if (id === "put off") return { retryInMs: 3_600_000 };
      if (id === "kept") await gate.opened;
      return "done";
    });
    await queue.take(pool, { concurrency: 2, handle: handler.handle });
    for (const id of ["put off", "kept"]) await queue.add(pool, job(id));
    await waitForCount(queue, pool, { waiting: 1, active: 1 });
    for (const id of ["put off", "kept", "lost"]) {
      expect(await queue.replace(pool, id, job(`${id}.1`))).toBe(true);
    }
    const all = ["waits", "put off", "put off.1", "kept", "kept.1", "lost.1"];
    await vi.waitFor(() => expect(handler.ids.toSorted()).toEqual(all.toSorted()), WAIT);
    gate.open();
    // The one that was put off for an hour is gone.
    await waitForCount(queue, pool, { waiting: 0, active: 0 });
    expect(queue.errors).toEqual([]);
  });

  test("a job whose handler throws or returns nonsense is delivered again, and the error is reported", async () => {
    const queue = await openQueue(await useUrl());
    const pool = newPool();
    const outcomes = [{ retryInMs: Number.NaN }, "done"] as const;
    const handler = recordJobs(async () => outcomes[handler.ids.length - 2] ?? fail("no disk"));
    await queue.take(pool, { concurrency: 1, handle: handler.handle });
    await queue.add(pool, { id: "1", data: {} });
    await vi.waitFor(() => expect(handler.ids).toHaveLength(3), WAIT);
    await waitForCount(queue, pool, { waiting: 0, active: 0 });
    expect(queue.errors.map(({ message }) => message)).toEqual([
      expect.stringContaining("no disk"),
      expect.stringContaining('returns "done" or { retryInMs }'),
    ]);
  });

  test("a job that is to be retried later waits, and others go first", async () => {
    const queue = await openQueue(await useUrl());
    const pool = newPool();
    const retries = new Map([
      ["later", 3_600_000],
      ["soon", 1],
    ]);
    const handler = recordJobs(async ({ id }) => {
      const retryInMs = retries.get(id);
      retries.delete(id);
      return retryInMs === undefined ? "done" : { retryInMs };
    });
    await queue.take(pool, { concurrency: 1, handle: handler.handle });
    for (const id of ["later", "soon", "other"]) await queue.add(pool, { id, data: {} });
    await vi.waitFor(() => expect(handler.ids.filter((id) => id === "soon")).toHaveLength(2), WAIT);
    await waitForCount(queue, pool, { waiting: 1, active: 0 });
    expect(handler.ids.filter((id) => id === "later")).toHaveLength(1);
    expect(handler.ids).toContain("other");
    expect(queue.errors).toEqual([]);
  });
}

function fail(message: string): never {
  throw new Error(message);
}
