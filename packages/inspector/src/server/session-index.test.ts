import { afterEach, describe, expect, test, vi } from "vitest";
import type { ConversationNode, Fact } from "@soong/core";
import type { FactPage, SessionReader, SessionRecord } from "@soong/store";
import { verifies } from "#laws";
import { writtenFact } from "../../../../test/facts.ts";
import type { HomeState } from "../wire/home-records.ts";
import { createAttendance, createHeartbeat } from "./attendance.ts";
import { createChanges } from "./changes.ts";
import { createSessionIndex, readPrompt } from "./session-index.ts";
import { createTextLog } from "./text-log.ts";

afterEach(() => vi.restoreAllMocks());

/** As many facts as are there by now; some may have been taken out of the database. */
function readerOf(facts: readonly Fact[]) {
  let there = facts.length;
  const pages: number[] = [];
  const record = async () => ({ session_id: "s", last_seq: there }) as SessionRecord;
  const reader = {
    session_id: "s",
    record,
    async facts({ after = 0, limit = 1000 }: FactPage = {}) {
      const found = facts.filter(({ seq }) => seq > after && seq <= there).slice(0, limit);
      pages.push(found.length);
      return found;
    },
    node: async () => undefined,
  } as unknown as SessionReader;
  return {
    reader,
    pages,
    become(count: number) {
      there = count;
    },
  };
}

function factsOf(count: number): Fact[] {
  return Array.from({ length: count }, (_, i) => {
    const type = i === 0 ? "run.started" : "tool.progress";
    return writtenFact({ seq: i + 1, type, run_id: "r1", agent_id: "a1", tool_call_id: "c1" });
  });
}

/** Every look has time for one page. */
function hurry(): void {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
}

const { signal } = new AbortController();

describe("reading a session", () => {
  test("continues a page at a time, says how far it is, and lets others work in between", async () => {
    verifies("EVENT-4");
    hurry();
    const { reader, pages } = readerOf(factsOf(1800));
    const index = await createSessionIndex(reader);
    const seen: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      let hadTurn = false;
      setImmediate(() => {
        hadTurn = true;
      });
      await index.look();
      seen.push(index.readSeq());
      if (i < 4) expect(hadTurn).toBe(true);
    }
    expect(seen).toEqual([500, 1000, 1500, 1800, 1800]);
    expect(pages).toEqual([500, 500, 500, 300]);
    expect(index.timeline.countFacts("r1")).toBe(1800);
  });

  test("a page learns at once that there is more, and need not wait for all of it", async () => {
    verifies("EVENT-4", "UI-1");
    hurry();
    const index = await createSessionIndex(readerOf(factsOf(1200)).reader);
    const home = { look: async () => undefined, version: () => 1, state: () => ({}) as HomeState };
    const changes = createChanges({
      serverId: "server",
      home,
      indexes: { of: async () => index },
      live: undefined,
      texts: createTextLog(() => {}),
      attendance: createAttendance(undefined, 0),
      heartbeat: createHeartbeat(1),
      holdMs: 0,
    });
    const answers: [number | undefined, boolean | undefined][] = [];
    for (let cursor: string | undefined; answers.length < 3;) {
      const answer = await changes({ cursor, session_id: "s", hold: true, signal });
      answers.push([answer.session?.read_seq, answer.session?.more]);
      ({ cursor } = answer);
    }
    expect(answers).toEqual([
      [500, true],
      [1000, true],
      [1200, false],
    ]);
  });

  test("to the end reads all there was when it was requested, and stops for a client that has disconnected", async () => {
    verifies("UI-1");
    hurry();
    const kept = readerOf(factsOf(2600));
    kept.become(1200);
    const index = await createSessionIndex(kept.reader);
    const under = index.look();
    kept.become(2600);
    await index.readAll(signal);
    await under;
    expect(index.readSeq()).toBe(2600);
    const other = await createSessionIndex(kept.reader);
    await expect(other.readAll(AbortSignal.abort())).rejects.toThrow("aborted");
    expect(other.readSeq()).toBe(1000);
  });

  test("is one reading, however many look at once", async () => {
    verifies("EVENT-4");
    const { reader, pages } = readerOf(factsOf(900));
    const index = await createSessionIndex(reader);
    await Promise.all([index.look(), index.look(), index.readAll(signal)]);
    expect(pages).toEqual([500, 400]);
  });

  test("does not wait for facts that were removed", async () => {
    verifies("UI-1");
    hurry();
    const kept = readerOf([...factsOf(10), ...factsOf(20).slice(15, 17)]);
    kept.become(20);
    const index = await createSessionIndex(kept.reader);
    await index.readAll(signal);
    expect(index.readSeq()).toBe(20);
    expect(index.timeline.countFacts("r1")).toBe(12);
  });

  test("finds facts by where they are", async () => {
    verifies("UI-1");
    const { reader, pages } = readerOf(factsOf(1200));
    const index = await createSessionIndex(reader);
    await index.readAll(signal);
    pages.length = 0;
    const seqs = [1, 2, 3, 700, 702, 703];
    expect((await index.factsAt(seqs)).map(({ seq }) => seq)).toEqual(seqs);
    expect(pages).toEqual([3, 1, 2]);
    const { seqs: read, left_out } = index.calls.seqsOf({ run_id: "r1", tool_call_id: "c1" });
    expect([read.length, read[0], read[1], read.at(-1), left_out]).toEqual([
      501, 1, 701, 1200, 699,
    ]);
  });
});

test("a run is called by its first prompt, also where others were sent before it began", async () => {
  const said = ["an earlier answer", "first", "second", "third"];
  const nodes = new Map(
    said.map((text, i) => {
      const node: ConversationNode = {
        node_id: `n${i}`,
        session_id: "s",
        agent_id: "a",
        run_id: i === 0 ? "run_0" : "run_1",
        kind: "message",
        content: [{ type: "text", text }],
        ...(i === 0 ? {} : { parent_id: `n${i - 1}` }),
      };
      return [node.node_id, node];
    }),
  );
  const reader = { node: async (node_id: string) => nodes.get(node_id) };
  expect(await readPrompt(reader, "n3", "run_1")).toBe("first");
  expect(await readPrompt(reader, "n3", "run_of_another")).toBe("");
});
