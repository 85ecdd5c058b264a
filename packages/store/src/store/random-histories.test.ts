// Random histories of the SQLite store against a model that keeps everything in lists.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { ConversationNode, Fact, FactData, FactType } from "@soong/core";
import { StoreError } from "../contract/store-error.ts";
import type { OpenSession, SessionReader, Store } from "../contract/store.ts";
import { openStore } from "../open/open-store.ts";
import type { WrittenFact } from "../../conformance/fact-writer.ts";

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "soong-histories-"));
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe("random histories", () => {
  test("two sessions with two agents each answer as a plain model does", async () => {
    verifies("STORE-1", "STORE-2", "EVENT-1");
    const store = await openStore({ directory: base });
    const other = await openStore({ directory: base });
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
          const histories = [await newHistory(store), await newHistory(store)];
          for (const one of steps) await follow(store, histories[one.session] as History, one);
          for (const history of histories) {
            await compare(history.opened.reader, history);
            await compare(await other.readSession(history.opened.session_id), history);
            expect((await other.verify(history.opened.session_id)).ok).toBe(true);
            await history.opened.close();
          }
        }),
        { numRuns: process.env["SOONG_TEST_FULL"] === "1" ? 1000 : 15 },
      );
    } finally {
      await store.close();
      await other.close();
    }
  });
});

const agents = ["agent_1", "agent_2"];
const step = fc.record({
  session: fc.constantFrom(0, 1),
  agent_id: fc.constantFrom(...agents),
  does: fc.constantFrom(
    "says",
    "says",
    "says",
    "notes",
    "flushes",
    "branches",
    "rewinds",
    "reopens",
    "errs",
  ),
  /** How many nodes come at once, and whether children come before their parents. */
  nodes: fc.integer({ min: 1, max: 4 }),
  backwards: fc.boolean(),
  pick: fc.nat(),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** A session, and what it should hold. */
interface History {
  opened: OpenSession;
  readonly facts: Fact[];
  readonly nodes: ConversationNode[];
  readonly active: Map<string, string>;
}

async function newHistory(store: Store): Promise<History> {
  return { opened: await store.createSession(), facts: [], nodes: [], active: new Map() };
}

async function follow(store: Store, history: History, taken: Step): Promise<void> {
  const { does, agent_id, pick } = taken;
  const { opened, nodes, active } = history;
  const known = nodes[pick % Math.max(1, nodes.length)];
  if (does === "notes") record(history, {});
  if (does === "says") say(history, taken, active.get(agent_id));
  if (does === "branches" && known !== undefined && active.has(agent_id)) {
    say(history, taken, known.node_id);
  }
  if (does === "rewinds" && known !== undefined) {
    await opened.rewind(
      {
        recordClean: <T extends FactType>(type: T, data: FactData<T>) =>
          record(history, { type, data }) as Fact<T>,
      },
      known.node_id,
    );
    active.set(known.agent_id, known.node_id);
  }
  if (does === "errs") {
    const wrong = factOf(history, { seq: history.facts.length + 1 + (pick % 3 === 1 ? 0 : 1) });
    const isForeign = wrong.seq === history.facts.length + 1;
    const facts = [isForeign ? { ...wrong, session_id: "elsewhere" } : wrong];
    expect(() => opened.journal.append({ facts })).toThrow(StoreError);
  }
  if (does === "flushes") {
    await opened.journal.flush();
    await compare(opened.reader, history);
  }
  if (does === "reopens") {
    await opened.close();
    history.opened = await store.openSession(opened.session_id);
  }
  expect(bare(await history.opened.journal.read(0, 1e6))).toEqual(history.facts);
}

/** A chain of nodes below one, which the agent follows if it was there. */
function say(history: History, { agent_id, nodes: count, backwards }: Step, below?: string): void {
  const { nodes, active, opened } = history;
  const chain: ConversationNode[] = [];
  for (let parent_id = below; chain.length < count; parent_id = chain.at(-1)?.node_id) {
    chain.push({
      node_id: `n${nodes.length + chain.length}`,
      ...(parent_id === undefined ? {} : { parent_id }),
      session_id: opened.session_id,
      run_id: "run_1",
      agent_id,
      kind: "message",
      content: [{ type: "text", text: `${agent_id} says` }],
    });
  }
  if (active.get(agent_id) === below) active.set(agent_id, chain.at(-1)?.node_id ?? "");
  const given = backwards ? chain.toReversed() : chain;
  nodes.push(...given);
  record(history, {}, given);
}

function factOf({ facts, opened }: History, about: WrittenFact): Fact {
  const seq = facts.length + 1;
  const time = new Date(seq * 1000).toISOString();
  const own = { id: `f${seq}`, seq, type: "task.noted", time, level: "info", data: {} } as const;
  return { ...own, session_id: opened.session_id, ...about } as Fact;
}

function record(history: History, about: WrittenFact, nodes?: ConversationNode[]): Fact {
  const fact = factOf(history, about);
  history.opened.journal.append({ facts: [fact], ...(nodes === undefined ? {} : { nodes }) });
  history.facts.push(fact);
  return fact;
}

async function compare(
  reader: SessionReader,
  { facts, nodes, active, opened }: History,
): Promise<void> {
  await opened.journal.flush();
  expect(bare(await reader.facts())).toEqual(facts);
  expect((await reader.record()).last_seq).toBe(facts.length);
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  const pathTo = (node_id: string | undefined): ConversationNode[] => {
    const node = byId.get(node_id ?? "");
    return node === undefined ? [] : [...pathTo(node.parent_id), node];
  };
  for (const agent_id of agents) {
    expect(await reader.activePath(agent_id)).toEqual(pathTo(active.get(agent_id)));
  }
  for (const parent of [undefined, ...byId.keys()]) {
    const children = nodes.filter(({ parent_id }) => parent_id === parent);
    expect(await reader.children(parent)).toEqual(children);
  }
}

function bare(facts: readonly Fact[]): Omit<Fact, "nodes" | "prev_hash">[] {
  return facts.map(({ nodes: _nodes, prev_hash: _hash, ...fact }) => fact);
}
