import { expect, test } from "vitest";
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
  const indexes = createSessionIndexes(storeOf(100), 250);
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

  const narrow = createSessionIndexes(storeOf(100), 10);
  const only = await narrow.of("s1");
  await only.look();
  expect(await narrow.of("s1")).toBe(only);
});
