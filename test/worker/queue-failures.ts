// What every engine of the job queue does when the network breaks, the input is bad or the password wrong.

import { inspect } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { openJobQueue } from "../../packages/worker/src/index.ts";
import { startProxy } from "../postgres/proxy.ts";
import {
  createGate,
  newPool,
  openQueue,
  recordJobs,
  SHORT_LOCK_MS,
  WAIT,
  waitForCount,
  waitForIds,
} from "./queue-stage.ts";

export function describeFailures(useUrl: () => Promise<string>): void {
  test("after its connections were reset a taker continues, and what was running is not lost", async () => {
    const { direct, proxied, proxy } = await behindProxy(useUrl);
    const pool = newPool();
    const gate = createGate();
    const handler = recordJobs(async ({ id }) => {
      if (id === "running") await gate.opened;
      return "done";
    });
    await proxied.take(pool, { concurrency: 2, handle: handler.handle });
    await direct.add(pool, { id: "running", data: {} });
    await waitForIds(handler, ["running"]);
    proxy.reset();
    await direct.add(pool, { id: "meanwhile", data: {} });
    gate.open();
    const refused = { concurrency: 1, handle: handler.handle };
    await expect(proxied.take(pool, refused)).rejects.toMatchObject({ code: "queue_failed" });
    await expect(proxied.count(pool)).rejects.toMatchObject({ code: "queue_failed" });
    await vi.waitFor(() => expect(proxied.errors).not.toEqual([]), WAIT);
    proxy.heal();
    await waitForIds(handler, ["running", "meanwhile"]);
    await waitForCount(direct, pool, { waiting: 0, active: 0 });
    await direct.add(pool, { id: "after", data: {} });
    await waitForIds(handler, ["running", "meanwhile", "after"]);
    await vi.waitFor(() => proxied.add(pool, { id: "added", data: {} }), WAIT);
    await waitForIds(handler, ["running", "meanwhile", "after", "added"]);
  });

  test("the job of a worker that is cut off is taken by another, and the worker continues when the network is back", async () => {
    const { direct, proxied, proxy } = await behindProxy(useUrl);
    const pool = newPool();
    const gate = createGate();
    const cutOff = recordJobs(async () => {
      await gate.opened;
      return "done";
    });
    await proxied.take(pool, { concurrency: 1, handle: cutOff.handle });
    await direct.add(pool, { id: "t/s/1", data: {} });
    await waitForIds(cutOff, ["t/s/1"]);
    proxy.hole();
    const adding = proxied.add(pool, { id: "lost", data: {} }).catch((error: unknown) => error);
    const handler = recordJobs();
    const taker = await direct.take(pool, { concurrency: 1, handle: handler.handle });
    await waitForIds(handler, ["t/s/1"]);
    gate.open();
    expect(await adding).toMatchObject({ code: "queue_failed" });
    await taker.drain();
    proxy.heal();
    await direct.add(pool, { id: "next", data: {} });
    await vi.waitFor(() => expect(cutOff.ids).toContain("next"), WAIT);
  });
}

export function describeErrors(useUrl: () => Promise<string>): void {
  test("bad input is refused with a sentence", async () => {
    const url = await useUrl();
    const queue = await openQueue(url);
    const handle = recordJobs().handle;
    const refused = async (work: Promise<unknown>): Promise<string> => {
      const error: unknown = await work.catch((error: unknown) => error);
      expect(error).toMatchObject({ name: "QueueError", code: "queue_input" });
      return (error as Error).message;
    };
    expect(await refused(queue.add("", { id: "1", data: {} }))).toBe(
      "The name of a pool has 1 to 100 characters.",
    );
    expect(await refused(queue.add("p", { id: "x".repeat(501), data: {} }))).toBe(
      "The id of a job has 1 to 500 characters.",
    );
    expect(await refused(queue.count("\ud800"))).toBe(
      "The name of a pool holds half of a Unicode character.",
    );
    for (const concurrency of [0, 1.5, Number.NaN]) {
      expect(await refused(queue.take("p", { concurrency, handle }))).toBe(
        "concurrency is a whole number, 1 or more.",
      );
    }
    expect(await refused(openJobQueue(url, { lockMs: 10 }))).toBe(
      "lockMs is a whole number, 500 or more.",
    );
  });

  test("no error holds the password, also where it is wrong or the server is away", async () => {
    const url = new URL(await useUrl());
    const proxy = await startProxy(url.href);
    onTestFinished(() => proxy.close());
    const errors: unknown[] = [];
    const onError = (error: Error): void => void errors.push(error);
    const right = await openJobQueue(proxy.url, { onError });
    onTestFinished(() => right.close());
    proxy.reset();
    await right.add(newPool(), { id: "1", data: {} }).catch(onError);
    const open = async (url: string): Promise<void> => {
      const opened = openJobQueue(url, { onError });
      await expect(opened).rejects.toMatchObject({ name: "QueueError" });
      await opened.catch(onError);
    };
    await open(proxy.url);
    const wrong = new URL(url);
    wrong.password = "w/ro ng@";
    await open(wrong.href);
    await open(`mysql://root:${url.password}@h`);
    await open(`postgres://root:${url.password}@h:no-port`);
    expect(errors.length).toBeGreaterThanOrEqual(5);
    for (const error of errors) {
      const shown = inspect(error, { depth: 10, showHidden: true });
      for (const secret of [url.password, wrong.password, "w/ro ng@"]) {
        expect(shown).not.toContain(secret);
      }
    }
  });
}

async function behindProxy(useUrl: () => Promise<string>) {
  const url = await useUrl();
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  const direct = await openQueue(url, SHORT_LOCK_MS);
  const proxied = await openQueue(proxy.url, SHORT_LOCK_MS);
  // Nothing can be closed properly through a hole.
  onTestFinished(() => proxy.heal());
  return { direct, proxied, proxy };
}
