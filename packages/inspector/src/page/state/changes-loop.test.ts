import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Changes } from "../../wire/home-records.ts";
import { RequestFailed } from "../api/client.ts";
import {
  type ChangesLoop,
  type ChangesQuery,
  startChangesLoop,
  waitBeforeTry,
} from "./changes-loop.ts";

describe("the loop that asks what is new", () => {
  it("sends the cursor it was given, one request after the other", async () => {
    const page = open();
    expect((await page.asked()).query).toEqual({ hold: "1" });
    page.answer({ cursor: "1" });
    await page.waitedFor(80);
    expect((await page.asked()).query).toEqual({ cursor: "1", hold: "1" });
    expect(page.open()).toBe(1);
    page.loop.stop();
  });

  it("asks at once while there is more", async () => {
    const page = open();
    await page.asked();
    page.answer({ cursor: "1", session: { ...session("s"), more: true } });
    expect((await page.asked()).query.cursor).toBe("1");
    page.loop.stop();
  });

  it("sends another session from its beginning, and nothing of the one before", async () => {
    const page = open();
    const first = await page.asked();
    page.loop.watch("s2");
    expect(first.signal.aborted).toBe(true);
    first.answer({ cursor: "old" });
    expect((await page.asked()).query).toEqual({ session_id: "s2", hold: "1" });
    expect(page.taken).toEqual([]);
    page.loop.stop();
  });

  it("gives up what is held for another request, and asks again where it was", async () => {
    const clock = vi.spyOn(performance, "now").mockReturnValue(0);
    onTestFinished(() => clock.mockRestore());
    const page = open();
    await page.asked();
    page.answer({ cursor: "1" });
    await page.waitedFor(80);
    const held = await page.asked();
    // The answer may be on its way.
    page.loop.makeRoom();
    expect(held.signal.aborted).toBe(false);
    clock.mockReturnValue(1_000);
    page.loop.makeRoom();
    expect(held.signal.aborted).toBe(true);
    page.fail(new DOMException("given up", "AbortError"));
    expect((await page.asked()).query).toEqual({ cursor: "1", hold: "1" });
    expect(page.tries).toEqual([0]);
    page.loop.stop();
  });

  it("holds no connection while no page looks, and asks at once when one does", async () => {
    const page = open();
    page.loop.setVisible(false);
    await page.asked();
    page.answer({ cursor: "1" });
    const wait = await page.waits(3_000);
    page.loop.setVisible(true);
    expect(wait.signal.aborted).toBe(true);
    expect((await page.asked()).query.hold).toBe("1");
    page.loop.setVisible(false);
    page.answer({ cursor: "2" });
    await page.waitedFor(3_000);
    expect((await page.asked()).query).toEqual({ cursor: "2" });
    page.loop.stop();
  });

  it("tries again, later each time, continues where it was, and counts anew after it went well", async () => {
    const page = open();
    await page.asked();
    page.answer({ cursor: "7" });
    await page.waitedFor(80);
    for (const ms of [500, 1_000, 2_000]) {
      await page.asked();
      page.fail(new RequestFailed("unreachable", "gone"));
      await page.waitedFor(ms);
    }
    expect((await page.asked()).query.cursor).toBe("7");
    page.answer({ cursor: "8" });
    await page.waitedFor(80);
    expect(page.tries).toEqual([0, 1, 2, 3, 0]);
    page.loop.stop();
  });

  it("begins anew when the server does not take its cursor", async () => {
    const page = open();
    await page.asked();
    page.answer({ cursor: "7" });
    await page.waitedFor(80);
    await page.asked();
    page.fail(new RequestFailed("bad_request", "no such cursor"));
    await page.waitedFor(500);
    expect(page.reasons).toEqual([undefined, "no such cursor"]);
    expect((await page.asked()).query.cursor).toBeUndefined();
    page.loop.stop();
  });

  it("ends with a wrong token", async () => {
    const page = open();
    await page.asked();
    page.fail(new RequestFailed("unauthorized", "wrong"));
    await page.settled();
    expect(page.open()).toBe(0);
    expect(page.tries).toEqual([]);
  });

  it("continues with the home when there is no such session", async () => {
    const page = open();
    await page.asked();
    page.loop.watch("nope");
    await page.asked();
    page.fail(new RequestFailed("not_found", "There is no session nope."));
    expect((await page.asked()).query).toEqual({ hold: "1" });
    expect(page.missing).toEqual(["There is no session nope."]);
    page.loop.watch("nope");
    expect((await page.asked()).query.session_id).toBe("nope");
    page.loop.stop();
  });

  it("waits half a second at first and ten at most", () => {
    expect([1, 2, 3, 4, 5, 6, 60].map(waitBeforeTry)).toEqual([
      500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000,
    ]);
  });
});

interface Request {
  query: ChangesQuery;
  signal: AbortSignal;
  answer: (changes: Changes) => void;
  fail: (error: Error) => void;
}

interface Wait {
  ms: number;
  signal: AbortSignal;
  end: () => void;
}

/** A loop whose requests and waits end when the test says so. */
function open() {
  const requests = queue<Request>();
  const waits = queue<Wait>();
  const taken: Changes[] = [];
  const tries: number[] = [];
  const reasons: (string | undefined)[] = [];
  const missing: string[] = [];
  let openRequests = 0;
  let current: Request | undefined;
  const loop: ChangesLoop = startChangesLoop({
    ask: (query, signal) =>
      new Promise<Changes>((resolve, reject) => {
        openRequests += 1;
        const done =
          <Value>(act: (value: Value) => void) =>
          (value: Value) => {
            openRequests -= 1;
            act(value);
          };
        signal.addEventListener("abort", () => done(reject)(new DOMException("", "AbortError")));
        requests.put({ query, signal, answer: done(resolve), fail: done(reject) });
      }),
    wait: (ms, signal) =>
      new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve());
        waits.put({ ms, signal, end: resolve });
      }),
    onChanges: (changes) => taken.push(changes),
    onTries: (count, why) => {
      tries.push(count);
      reasons.push(why);
    },
    onNoSession: (_, message) => missing.push(message),
  });
  const waitsFor = async (ms: number) => {
    const wait = await waits.take();
    expect(wait.ms).toBe(ms);
    return wait;
  };
  return {
    loop,
    taken,
    tries,
    reasons,
    missing,
    open: () => openRequests,
    asked: async () => (current = await requests.take()),
    answer: (changes: Changes) => current?.answer(changes),
    fail: (error: Error) => current?.fail(error),
    waits: waitsFor,
    waitedFor: async (ms: number) => (await waitsFor(ms)).end(),
    settled: () =>
      new Promise<void>((resolve) => {
        setTimeout(resolve);
      }),
  };
}

function queue<Item>() {
  const items: Item[] = [];
  const takers: ((item: Item) => void)[] = [];
  return {
    put(item: Item) {
      const taker = takers.shift();
      if (taker === undefined) items.push(item);
      else taker(item);
    },
    take: () =>
      new Promise<Item>((resolve) => {
        const [item] = items.splice(0, 1);
        if (item === undefined) takers.push(resolve);
        else resolve(item);
      }),
  };
}

function session(session_id: string): NonNullable<Changes["session"]> {
  const at = "2026-01-01T00:00:00.000Z";
  return {
    session: { session_id, created_at: at, updated_at: at, last_seq: 1 },
    read_seq: 1,
    runs: [],
    lanes: [],
    requests: [],
    more: false,
  };
}
