// The journal of a session as its holder and as others see it: entries whole or not at all, durable after a
// flush, refused when they do not follow (EVENT-1, STORE-1, PIPE-3).

import assert from "node:assert/strict";
import type { ConversationNode, Fact, JournalEntry, JsonValue } from "@soong/core";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { allFacts, expectFacts, expectRefusal, range, seqsOf } from "./expect.ts";
import { createFactWriter, type FactWriter } from "./fact-writer.ts";

const BIG: unknown = 1n;

/** Each with what is wrong about it. All would be the second entry of a session whose first fact is `f1`. */
const REFUSED: [what: string, entry: (writer: FactWriter) => JournalEntry][] = [
  ["a hole before its first fact", (writer) => ({ facts: [writer.fact({ seq: 3 })] })],
  ["a seq that is taken", (writer) => ({ facts: [writer.fact({ seq: 1 })] })],
  ["a seq of zero", (writer) => ({ facts: [writer.fact({ seq: 0 })] })],
  ["a seq between two", (writer) => ({ facts: [writer.fact({ seq: 2.5 })] })],
  ["a seq that is no number", (writer) => ({ facts: [writer.fact({ seq: Number.NaN })] })],
  ["a hole within it", (writer) => ({ facts: [writer.fact(), writer.fact({ seq: 4 })] })],
  [
    "its facts in the wrong order",
    (writer) => ({ facts: [writer.fact({ seq: 3 }), writer.fact({ seq: 2 })] }),
  ],
  ["the same seq twice", (writer) => ({ facts: [writer.fact(), writer.fact({ seq: 2 })] })],
  [
    "a fact of another session",
    (writer) => ({ facts: [writer.fact({ session_id: "elsewhere" })] }),
  ],
  [
    "a second fact of another session",
    (writer) => ({ facts: [writer.fact(), writer.fact({ session_id: "elsewhere" })] }),
  ],
  ["nodes without a fact", (writer) => ({ facts: [], nodes: [writer.node({ node_id: "n2" })] })],
  [
    "a node of another session",
    (writer) => ({
      facts: [writer.fact()],
      nodes: [writer.node({ node_id: "n2", session_id: "elsewhere" })],
    }),
  ],
  [
    "a node id that is taken",
    (writer) => ({ facts: [writer.fact()], nodes: [writer.node({ node_id: "n1" }, "another")] }),
  ],
  [
    "one node id for two nodes",
    (writer) => ({
      facts: [writer.fact()],
      nodes: [writer.node({ node_id: "n2" }), writer.node({ node_id: "n2" }, "another")],
    }),
  ],
  ["data with a BigInt", (writer) => ({ facts: [writer.fact({ data: { n: BIG as JsonValue } })] })],
  ["data that contains itself", (writer) => ({ facts: [writer.fact({ data: circular() })] })],
  [
    "data that throws when it is read",
    (writer) => ({ facts: [writer.fact(), writer.fact({ data: { toJSON: throwing } })] }),
  ],
  [
    "a node that is not JSON",
    (writer) => ({
      facts: [writer.fact()],
      nodes: [writer.node({ node_id: "n2", data: circular() })],
    }),
  ],
];

export const journalOfStore: readonly ConformanceCheck[] = [
  ...REFUSED.map(([what, entry]) => refusalCheck(what, entry)),
  storeCheck(
    "another handle reads whole entries only, and after a flush all of them",
    ["STORE-1", "PIPE-3"],
    async (place) => {
      const session = await (await place.open()).createSession();
      const reader = await (await place.open()).readSession(session.session_id);
      const writer = createFactWriter(session);
      let done = 0;
      for (let i = 0; i < 30; i += 1) {
        const facts = [writer.fact(), writer.fact()];
        session.journal.append({ facts, nodes: [writer.node({ node_id: `n${i}` })] });
        if (i % 10 === 9) {
          await session.journal.flush();
          done = i + 1;
        }
        const seen = (await reader.facts()).length;
        assert.ok(seen % 2 === 0 && seen >= 2 * done && seen <= 2 * (i + 1), `${seen} at ${i}`);
        if (seen > 0) {
          const nodes = await reader.children();
          assert.ok(nodes.length >= seen / 2, "facts without their node");
        }
      }
      assert.deepEqual(seqsOf(await reader.facts()), range(1, 60));
      assert.equal((await reader.record()).last_seq, 60);
    },
  ),
  storeCheck(
    "what is changed after it was appended stays as it was",
    ["EVENT-1"],
    async (place) => {
      const store = await place.open();
      const session = await store.createSession();
      const writer = createFactWriter(session);
      const data = { text: "as it was" };
      const node: ConversationNode = writer.node({ node_id: "n1" });
      const fact: Fact = writer.add({ data }, [node]);
      data.text = "changed";
      fact.type = "error";
      node.content.push({ type: "text", text: "changed" });
      const [pending] = await allFacts(session.journal);
      assert.deepEqual([pending?.type, pending?.data], ["task.noted", { text: "as it was" }]);
      await session.journal.flush();
      const [kept] = await allFacts(session.journal);
      assert.deepEqual([kept?.type, kept?.data], ["task.noted", { text: "as it was" }]);
      assert.equal((await session.reader.node("n1"))?.content.length, 1);
    },
  ),
  storeCheck("sessions written side by side do not see each other", ["EVENT-1"], async (place) => {
    const store = await place.open();
    const one = await store.createSession();
    const two = await store.createSession();
    const [penOne, penTwo] = [createFactWriter(one), createFactWriter(two)];
    for (let i = 0; i < 10; i += 1) {
      penOne.add({ data: { of: "one" } }, [penOne.node({ node_id: `n${i}` }, "one")]);
      penTwo.add({ data: { of: "two" } }, [penTwo.node({ node_id: `n${i}` }, "two")]);
      if (i % 3 === 0) await Promise.all([one.journal.flush(), two.journal.flush()]);
    }
    await Promise.all([one.journal.flush(), two.journal.flush()]);
    for (const [session, name] of [
      [one, "one"],
      [two, "two"],
    ] as const) {
      const facts = await session.reader.facts();
      assert.deepEqual(seqsOf(facts), range(1, 10));
      assert.ok(facts.every(({ data }) => (data as { of: string }).of === name));
      assert.deepEqual((await session.reader.node("n3"))?.content, [{ type: "text", text: name }]);
    }
  }),
  storeCheck(
    "two handles write two sessions at once, and neither loses anything",
    ["STORE-1"],
    async (place) => {
      const sessions = [
        await (await place.open()).createSession(),
        await (await place.open()).createSession(),
      ];
      const writing = sessions.map(async (session) => {
        const writer = createFactWriter(session);
        for (let i = 0; i < 40; i += 1) {
          writer.add({}, [writer.node({ node_id: `n${i}` })]);
          if (i % 4 === 3) await session.journal.flush();
        }
      });
      await Promise.all(writing);
      for (const session of sessions) {
        assert.deepEqual(seqsOf(await session.reader.facts()), range(1, 40));
        assert.equal((await session.reader.children()).length, 40);
      }
    },
  ),
  storeCheck("entries too large to be held back are whole, too", ["STORE-1"], async (place) => {
    const session = await (await place.open()).createSession();
    const writer = createFactWriter(session);
    for (let i = 1; i <= 6; i += 1) {
      const data = { text: String(i).repeat(1_000_000) };
      session.journal.append({
        facts: [writer.fact({ data }), writer.fact()],
        nodes: [writer.node({ node_id: `n${i}` })],
      });
      const committed = await session.reader.facts();
      assert.equal((await session.reader.children()).length, committed.length / 2);
      assert.deepEqual(seqsOf(await session.journal.read(0, 100)), range(1, 2 * i));
    }
    await session.journal.flush();
    assert.deepEqual(seqsOf(await session.reader.facts()), range(1, 12));
  }),
  storeCheck("a long session is flushed at once and read in pages", ["EVENT-1"], async (place) => {
    const session = await (await place.open()).createSession();
    const writer = createFactWriter(session);
    const written = range(1, 1500).map((n) => writer.add({ data: { n } }));
    await session.journal.flush();
    expectFacts(await allFacts(session.journal), written);
    const paged: Fact[] = [];
    for (let after = 0, page: Fact[]; ; after = page.at(-1)?.seq ?? 0) {
      page = await session.reader.facts({ after, limit: 701 });
      if (page.length === 0) break;
      paged.push(...page);
    }
    expectFacts(paged, written);
  }),
];

/** The entry before it may still be held back, or be durable already: it is refused all the same. */
function refusalCheck(what: string, entry: (writer: FactWriter) => JournalEntry): ConformanceCheck {
  const name = `an entry with ${what} is refused, leaves nothing, and the next one is taken`;
  return storeCheck(name, ["STORE-1", "EVENT-1"], async (place) => {
    const store = await place.open();
    const session = await store.createSession();
    const { journal, reader } = session;
    const first = createFactWriter(session).add({}, [
      createFactWriter(session).node({ node_id: "n1" }),
    ]);
    for (const isFlushed of [false, true]) {
      if (isFlushed) await journal.flush();
      await expectRefusal("entry_refused", () => {
        journal.append(entry(createFactWriter({ ...session, lastSeq: 1 })));
      });
      expectFacts(await allFacts(journal), [first]);
    }
    const writer = createFactWriter({ ...session, lastSeq: 1 });
    const second = writer.add({}, [writer.node({ node_id: "n3", parent_id: "n1" })]);
    await journal.flush();
    expectFacts(await reader.facts(), [first, second]);
    assert.equal(await reader.node("n2"), undefined);
    assert.deepEqual((await reader.node("n1"))?.content, [{ type: "text", text: "n1" }]);
    assert.equal((await reader.agents())[0]?.active_node_id, "n3");
    assert.ok((await store.verify(session.session_id)).ok);
  });
}

function circular(): Record<string, never> {
  const data: Record<string, unknown> = {};
  data["self"] = data;
  return data as Record<string, never>;
}

function throwing(): never {
  throw new Error("not to be read");
}
