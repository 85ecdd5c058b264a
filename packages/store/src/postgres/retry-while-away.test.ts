import { expect, test } from "vitest";
import { verifies } from "#laws";
import { asPostgresError } from "./postgres-error.ts";
import { createRetry } from "./retry-while-away.ts";

const AWAY = asPostgresError(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }), "db");

test("work is done again while the database is away", async () => {
  verifies("STORE-1");
  let attempts = 0;
  const work = async (): Promise<string> => {
    attempts += 1;
    if (attempts < 3) throw AWAY;
    return "done";
  };
  expect(await createRetry(60_000)(work)).toBe("done");
  expect(attempts).toBe(3);
});

test("each time that it goes and comes back is reported once", async () => {
  verifies("STORE-1");
  let [attempts, reported, back] = [0, 0, 0];
  const retry = createRetry(60_000, {
    onAway: () => (reported += 1),
    onBack: () => (back += 1),
  });
  const work = async (): Promise<void> => {
    attempts += 1;
    if (attempts % 3 !== 0) throw AWAY;
  };
  await retry(work);
  expect([attempts, reported, back]).toEqual([3, 1, 1]);
  await retry(work);
  expect([attempts, reported, back]).toEqual([6, 2, 2]);
});

test("an error of this process is no answer of the database", async () => {
  verifies("STORE-1");
  let back = 0;
  const errors = [AWAY, new Error("The store is closed.")];
  const retry = createRetry(60_000, { onBack: () => (back += 1) });
  await expect(retry(() => Promise.reject(errors.shift() ?? AWAY))).rejects.toThrow("closed");
  expect(back).toBe(0);
});

test("an error of the statement itself is not tried again", async () => {
  verifies("STORE-1");
  let attempts = 0;
  const work = async (): Promise<never> => {
    attempts += 1;
    throw new Error("a fault");
  };
  await expect(createRetry(60_000)(work)).rejects.toThrow("a fault");
  expect(attempts).toBe(1);
});

test("once the bound has passed, the next one fails at its first attempt", async () => {
  verifies("STORE-1");
  let attempts = 0;
  const work = async (): Promise<never> => {
    attempts += 1;
    throw AWAY;
  };
  const retry = createRetry(100);
  await expect(retry(work)).rejects.toBe(AWAY);
  expect(attempts).toBeGreaterThan(1);
  attempts = 0;
  await expect(retry(work)).rejects.toBe(AWAY);
  expect(attempts).toBe(1);
});

test("work that has become useless ends with the reason", async () => {
  verifies("STORE-3");
  const lost = new Error("lost");
  const check = (): void => {
    throw lost;
  };
  await expect(createRetry(60_000)(() => Promise.reject(AWAY), check)).rejects.toBe(lost);
});
