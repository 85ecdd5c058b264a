// How takers of every engine share jobs, are killed, drain and close.

import { expect, test } from "vitest";
import { verifies } from "#laws";
import {
  createGate,
  newPool,
  openQueue,
  recordJobs,
  SHORT_LOCK_MS,
  waitForCount,
  waitForIds,
} from "./queue-stage.ts";
import { bundleTaker } from "./taker-process.ts";

export function describeTakers(useUrl: () => Promise<string>): void {
  test("two takers do a thousand jobs, each job at least once, and no more at a time than they may", async () => {
    verifies("DIST-1");
    const url = await useUrl();
    const [one, other] = [await openQueue(url), await openQueue(url)];
    const pool = newPool();
    const ids = Array.from({ length: 1000 }, (_, at) => `t/s${at}/1`);
    await Promise.all(ids.map((id) => one.add(pool, { id, data: {} })));
    expect(await other.count(pool)).toEqual({ waiting: 1000, active: 0 });
    let running = 0;
    let most = 0;
    const handlers = [one, other].map((queue) => ({
      queue,
      recorded: recordJobs(async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        running -= 1;
        return "done";
      }),
    }));
    for (const { queue, recorded } of handlers) {
      await queue.take(pool, { concurrency: 4, handle: recorded.handle });
    }
    await waitForCount(one, pool, { waiting: 0, active: 0 });
    const [mine = [], theirs = []] = handlers.map(({ recorded }) => recorded.ids);
    expect(new Set([...mine, ...theirs])).toEqual(new Set(ids));
    expect(Math.min(mine.length, theirs.length)).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(8);
    expect([...one.errors, ...other.errors]).toEqual([]);
  });

  test("the job of a killed worker is taken by another, however often that happens", async () => {
    verifies("DIST-2");
    const url = await useUrl();
    const queue = await openQueue(url, SHORT_LOCK_MS);
    const pool = newPool();
    const startTaker = await bundleTaker();
    await queue.add(pool, { id: "t/s/1", data: {} });
    for (let kills = 0; kills < 3; kills += 1) {
      const taker = startTaker({ url, pool, lockMs: SHORT_LOCK_MS });
      await taker.waitForJob("t/s/1");
      await taker.kill();
    }
    const handler = recordJobs();
    await queue.take(pool, { concurrency: 1, handle: handler.handle });
    await waitForCount(queue, pool, { waiting: 0, active: 0 });
    expect(handler.ids).toEqual(["t/s/1"]);
  });

  test("a running job is not taken by another, however long it runs", async () => {
    const url = await useUrl();
    // Long enough for a busy machine to renew it.
    const lockMs = 3000;
    const [one, other] = [await openQueue(url, lockMs), await openQueue(url, lockMs)];
    const pool = newPool();
    const startTaker = await bundleTaker();
    const gate = createGate();
    const long = recordJobs(async () => {
      await gate.opened;
      return "done";
    });
    await one.take(pool, { concurrency: 1, handle: long.handle });
    await one.add(pool, { id: "long", data: {} });
    await waitForIds(long, ["long"]);
    await one.add(pool, { id: "killed", data: {} });
    const killed = startTaker({ url, pool, lockMs });
    await killed.waitForJob("killed");
    await killed.kill();
    const handler = recordJobs();
    await other.take(pool, { concurrency: 1, handle: handler.handle });
    // When the lock of the second job has ended, so would have the lock of the first.
    await waitForIds(handler, ["killed"]);
    expect(await other.count(pool)).toMatchObject({ waiting: 0 });
    gate.open();
    await waitForCount(other, pool, { waiting: 0, active: 0 });
    expect(handler.ids).toEqual(["killed"]);
    expect(long.ids).toEqual(["long"]);
  });

  test("a draining taker ends what it runs, takes nothing more, and leaves the rest to others", async () => {
    verifies("DIST-1");
    const queue = await openQueue(await useUrl());
    const pool = newPool();
    const gate = createGate();
    const first = recordJobs(async (_job, signal) => {
      await gate.opened;
      expect(signal.aborted).toBe(false);
      return "done";
    });
    const taker = await queue.take(pool, { concurrency: 1, handle: first.handle });
    await queue.add(pool, { id: "runs", data: {} });
    await waitForIds(first, ["runs"]);
    await queue.add(pool, { id: "waits", data: {} });
    let isDrained = false;
    const drained = taker.drain().then(() => {
      isDrained = true;
    });
    expect(await queue.count(pool)).toEqual({ waiting: 1, active: 1 });
    expect(isDrained).toBe(false);
    gate.open();
    await drained;
    expect(await queue.count(pool)).toEqual({ waiting: 1, active: 0 });
    const second = recordJobs();
    await queue.take(pool, { concurrency: 1, handle: second.handle });
    await waitForIds(second, ["waits"]);
    expect(first.ids).toEqual(["runs"]);
  });

  test("a draining taker begins nothing, also when a job arrives just then", async () => {
    const queue = await openQueue(await useUrl());
    const pool = newPool();
    const late: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      let isDraining = false;
      const taker = await queue.take(pool, {
        concurrency: 1,
        async handle({ id }) {
          if (isDraining) late.push(id);
          return "done";
        },
      });
      await queue.add(pool, { id: `${round}`, data: {} });
      isDraining = true;
      await taker.drain();
      expect(await queue.count(pool)).toMatchObject({ active: 0 });
    }
    expect(late).toEqual([]);
  });

  test("closing aborts the running jobs; each goes back and is taken by another, unless it was done", async () => {
    const url = await useUrl();
    const [one, other] = [await openQueue(url), await openQueue(url)];
    const pool = newPool();
    const aborted = recordJobs(
      ({ id }, signal) =>
        new Promise((resolve, reject) => {
          signal.addEventListener("abort", () => {
            if (id === "finishes") resolve("done");
            else if (id === "throws") reject(new Error("stopped"));
          });
        }),
    );
    const taker = await one.take(pool, { concurrency: 3, handle: aborted.handle });
    // The one that ignores the signal is given back after a while.
    for (const id of ["finishes", "throws", "ignores"]) await one.add(pool, { id, data: {} });
    await waitForIds(aborted, ["finishes", "throws", "ignores"]);
    await taker.close();
    expect(await other.count(pool)).toEqual({ waiting: 2, active: 0 });
    const handler = recordJobs();
    await other.take(pool, { concurrency: 1, handle: handler.handle });
    await waitForIds(handler, ["throws", "ignores"]);
    expect(one.errors).toEqual([]);
  });

  test("a closed queue has closed its takers, and refuses more with a sentence", async () => {
    const url = await useUrl();
    const [one, other] = [await openQueue(url), await openQueue(url)];
    const pool = newPool();
    const handler = recordJobs();
    await one.take(pool, { concurrency: 1, handle: handler.handle });
    await Promise.all([one.close(), one.close()]);
    await other.add(pool, { id: "1", data: {} });
    await expect(one.add(pool, { id: "2", data: {} })).rejects.toMatchObject({
      code: "queue_closed",
      message: "The job queue is closed.",
    });
    expect(await other.count(pool)).toEqual({ waiting: 1, active: 0 });
    expect(handler.ids).toEqual([]);
  });
}
