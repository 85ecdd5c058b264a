import { expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "#laws";
import type { Fact } from "@soong/core";
import type { SessionReader, SessionRecord, Store } from "@soong/store";
import type { HomeStore } from "./home-store.ts";
import { createSessionIndexes } from "./session-indexes.ts";

/** Every session has so many facts. */
function storeOf(facts: number): HomeStore {
  const readSession = async (session_id: string) =>
    ({
      session_id,
      record: async () => ({ session_id, last_seq: facts }) as SessionRecord,
      facts: async ({ after = 0 } = {}) =>
        after === 0 ? [{ seq: facts, type: "error", data: {} } as unknown as Fact] : [],
    }) as unknown as SessionReader;
  return { get: async () => ({ readSession }) as unknown as Store } as HomeStore;
}

test("the sessions looked at last are kept, eight of them", async () => {
  const indexes = createSessionIndexes(storeOf(1));
  const first = await indexes.of("s1");
  for (let i = 2; i <= 8; i += 1) await indexes.of(`s${i}`);
  expect(await indexes.of("s1")).toBe(first);
  const second = await indexes.of("s2");
  for (let i = 9; i <= 15; i += 1) await indexes.of(`s${i}`);
  expect(await indexes.of("s2")).toBe(second);
  expect(await indexes.of("s1")).not.toBe(first);
});

test("fewer, where they have very many facts, but always the one that is looked at", async () => {
  const indexes = createSessionIndexes(storeOf(100), { mostFacts: 250 });
  const read = async (session_id: string) => {
    const index = await indexes.of(session_id);
    await index.look();
    return index;
  };
  const first = await read("s1");
  const second = await read("s2");
  expect(await read("s1")).toBe(first);
  await read("s3");
  await read("s3");
  expect(await read("s1")).toBe(first);
  expect(await read("s2")).not.toBe(second);

  const narrow = createSessionIndexes(storeOf(100), { mostFacts: 10 });
  const only = await narrow.of("s1");
  await only.look();
  expect(await narrow.of("s1")).toBe(only);
});

test("where machines share the store, a session is read again when it says so, and once in a while", async () => {
  verifies("EVENT-4");
  const now = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => now.mockRestore());
  const listeners = new Map<string, () => void>();
  let reads = 0;
  let last_seq = 1;
  const reader = {
    record: async () => {
      reads += 1;
      return { last_seq } as SessionRecord;
    },
    facts: async () => [{ seq: last_seq, type: "error", data: {} } as unknown as Fact],
  } as unknown as SessionReader;
  const cluster = {
    listen(topic: string, woken: () => void) {
      listeners.set(topic, woken);
      return () => void listeners.delete(topic);
    },
  };
  const store = { readSession: async () => reader, cluster } as unknown as Store;
  const onNews = vi.fn();
  const indexes = createSessionIndexes({ get: async () => store } as HomeStore, { onNews });
  const index = await indexes.of("s1");
  await index.look();
  const before = reads;
  for (let beat = 0; beat < 100; beat += 1) await index.look();
  expect(reads).toBe(before);
  last_seq = 2;
  listeners.get("facts/s1")?.();
  expect(onNews).toHaveBeenCalledOnce();
  await index.look();
  expect([reads, index.readSeq()]).toEqual([before + 1, 2]);
  // A notification that was lost.
  last_seq = 3;
  await index.look();
  expect(index.readSeq()).toBe(2);
  now.mockReturnValue(5_001);
  await index.look();
  expect(index.readSeq()).toBe(3);
  indexes.close();
  await vi.waitFor(() => expect([...listeners.keys()]).toEqual([]));
});
