// A turn late in a conversation takes no more operations than an early one. Counted, not timed: what is recorded, read
// back and redacted. What the database is asked to do is counted in the store's own tests.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, createRedactor, PORTABLE_PROFILE, type Journal } from "@soong/core";
import { openStore } from "@soong/store";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openConversation } from "../../packages/agent/src/loop/index.ts";
import { calls, done, says } from "./loop-stage.ts";
import { ALLOW_ALL, readTool } from "./loop-tools.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "soong-long-"));
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

const TURNS = 220;
const EARLY = [20, 60] as const;
const LATE = [180, 220] as const;

interface Counts {
  facts: number;
  bytes: number;
  factsRead: number;
  bytesRedacted: number;
}

test("a turn late in a conversation takes as many operations as an early one", async () => {
  verifies("LOOP-5", "EVENT-4");
  const counts: Counts = { facts: 0, bytes: 0, factsRead: 0, bytesRedacted: 0 };
  countRedacted(counts);
  const atTurn: Counts[] = [];
  const store = await openStore({ directory });
  const kept = await store.createSession();
  const kernel = createKernel({ tools: [readTool("a.read", () => "found it there")] });
  const journal = countingJournal(kept.journal, counts);
  const session = await kernel.openSession({
    ...kept,
    journal,
    secrets: [{ name: "key", value: "5up3r-s3cr3t-value" }],
    policy: ALLOW_ALL,
  });
  const conversation = await openConversation({
    session,
    limits: { max_turns: TURNS + 1 },
    models: [
      {
        id: "test:long",
        profile: PORTABLE_PROFILE,
        async *stream() {
          const turn = atTurn.push({ ...counts });
          yield says("I look into the next one.");
          // Ids and inputs of one length: what is counted then differs by nothing but the history.
          const key = `file-${turn + 1_000}`;
          if (turn <= TURNS) yield calls("a__read", { key }, key);
          yield done(turn <= TURNS ? "tool_use" : "end_turn");
        },
      },
    ],
  });
  const { reason } = await conversation.send("Look into all of them.").end;
  await session.close();
  await kept.close();
  await store.close();

  expect(reason).toBe("completed");
  const [early, late] = [between(atTurn, EARLY), between(atTurn, LATE)];
  const { bytes, ...exact } = early;
  expect(late).toMatchObject(exact);
  // Numbers have more digits later. What grew with the history would be four times as much.
  expect(late.bytes).toBeLessThan(1.1 * bytes);
  for (const count of [bytes, exact.facts, exact.bytesRedacted]) expect(count).toBeGreaterThan(0);
});

function between(atTurn: readonly Counts[], [from, to]: readonly [number, number]): Counts {
  const [begun, ended] = [atTurn[from], atTurn[to]];
  if (begun === undefined || ended === undefined) throw new Error(`only ${atTurn.length} turns`);
  const difference = { ...ended };
  for (const count of Object.keys(begun) as (keyof Counts)[]) difference[count] -= begun[count];
  return difference;
}

function countingJournal(journal: Journal, counts: Counts): Journal {
  return {
    ...journal,
    append(entry) {
      journal.append(entry);
      counts.facts += entry.facts.length;
      counts.bytes += JSON.stringify([entry.facts, entry.nodes]).length;
    },
    async read(after, limit) {
      const facts = await journal.read(after, limit);
      counts.factsRead += facts.length;
      return facts;
    },
  };
}

/** What is looked through for secrets, by whichever way it comes. */
function countRedacted(counts: Counts): void {
  const prototype = Object.getPrototypeOf(createRedactor()) as Record<string, Redact>;
  for (const method of ["text", "value", "finds", "reversible"]) {
    const original = prototype[method];
    vi.spyOn(prototype, method).mockImplementation(function (this: unknown, given, ...more) {
      counts.bytesRedacted += JSON.stringify(given)?.length ?? 0;
      return original?.call(this, given, ...more);
    });
  }
}

type Redact = (this: unknown, given: unknown, ...more: unknown[]) => unknown;
