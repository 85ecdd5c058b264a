// Opens the session of a killed runtime again and checks all that has to be true of it, twice, and then continues
// with it.

import assert from "node:assert/strict";
import { openStore, StoreError, type Recovery, type Store } from "@soong/store";
import { checkEffects } from "./check-effects.ts";
import { allFacts, callsIn, checkFacts } from "./check-facts.ts";
import { checkRunFolders } from "./check-home.ts";
import type { Reported } from "./reported.ts";
import { beginWork } from "./work.ts";

export interface CrashedSession {
  readonly home: string;
  readonly project: string;
  readonly session_id: string;
  readonly reported: Reported;
}

const NOTHING_LOST: Recovery = { unknown: [], skipped: [], runs: [] };

/** Answers with what opening it closed. `mark`: for the calls that are made to see that it continues. */
export async function checkSession(crashed: CrashedSession, mark: string): Promise<Recovery> {
  const { home, session_id, reported } = crashed;
  const store = await openStore({ directory: home });
  try {
    if (!(await isThere(store, session_id))) {
      assert.equal(reported.durable.size, 0, "the session is gone");
      return NOTHING_LOST;
    }
    const recovered = await checkOnce(store, crashed);
    await checkRunFolders(store, home, session_id);
    await goOn(store, crashed, mark);
    assert.deepEqual(await checkOnce(store, crashed), NOTHING_LOST, "recovered a second time");
    return recovered;
  } finally {
    await store.close();
  }
}

async function checkOnce(store: Store, crashed: CrashedSession): Promise<Recovery> {
  const { session_id, project, reported } = crashed;
  const opened = await store.openSession(session_id);
  const { recovered, reader } = opened;
  const facts = await allFacts(reader);
  assert.equal(opened.lastSeq ?? 0, facts.length);
  await checkFacts(reader, facts, reported, recovered);
  checkEffects(project, callsIn(facts));
  await opened.close();
  const verification = await store.verify(session_id, {
    artifacts: true,
    ...(reported.head === undefined ? {} : { head: reported.head }),
  });
  assert.ok(verification.ok, JSON.stringify(verification));
  assert.equal(verification.facts, facts.length);
  return recovered;
}

async function goOn(store: Store, crashed: CrashedSession, mark: string): Promise<void> {
  const { session_id, project, reported } = crashed;
  const before = await store.openSession(session_id);
  assert.deepEqual(before.recovered, NOTHING_LOST, "recovered a second time");
  const work = await beginWork({ opened: before, project, mark });
  for (const { tool_call_id, status } of await work.fewCalls()) {
    assert.equal(status, "succeeded");
    reported.results.set(tool_call_id, status);
  }
  await work.end();
  await before.close();
}

async function isThere(store: Store, session_id: string): Promise<boolean> {
  try {
    await store.readSession(session_id);
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code === "session_unknown") return false;
    throw error;
  }
}
