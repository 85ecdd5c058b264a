// The conversation as a tree: paths, branches, rewinds, and where each agent continues (STORE-2).

import assert from "node:assert/strict";
import type { ConversationNode } from "@soong/core";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { asJson, expectRefusal } from "./expect.ts";
import { createFactWriter } from "./fact-writer.ts";

const idsOf = (nodes: readonly ConversationNode[]): string[] => nodes.map(({ node_id }) => node_id);

export const tree: readonly ConformanceCheck[] = [
  storeCheck(
    "a node is read as it was written, and no other is there",
    ["STORE-2"],
    async (place) => {
      const session = await (await place.open()).createSession();
      const writer = createFactWriter(session);
      const content = [{ type: "text" as const, text: "hello" }];
      const about = {
        kind: "tool_result",
        tool_call_id: "c1",
        is_error: true,
      } as const;
      const nodes = [
        writer.node({ node_id: "n1" }),
        writer.node({ ...about, node_id: "n2", parent_id: "n1", content }),
      ];
      writer.add({}, nodes);
      await session.journal.flush();
      assert.deepEqual(await session.reader.node("n2"), asJson(nodes[1]));
      assert.deepEqual(await session.reader.path("n2"), asJson(nodes));
      assert.equal(await session.reader.node("n3"), undefined);
      assert.equal(await session.reader.node(""), undefined);
      assert.deepEqual(await session.reader.children("n3"), []);
      assert.deepEqual(await session.reader.path("n3"), []);
      assert.deepEqual(await session.reader.activePath("agent_none"), []);
    },
  ),
  storeCheck("branches are the children of a node, oldest first", ["STORE-2"], async (place) => {
    const session = await (await place.open()).createSession();
    const writer = createFactWriter(session);
    for (const node_id of ["root", "z", "m", "a"]) {
      writer.add({}, [
        writer.node(node_id === "root" ? { node_id } : { node_id, parent_id: "root" }),
      ]);
      await session.journal.flush();
    }
    const more = ["y", "b"].map((node_id) => writer.node({ node_id, parent_id: "root" }));
    writer.add({}, more);
    writer.add({}, [writer.node({ node_id: "another root" }), writer.node({ node_id: "aa root" })]);
    await session.journal.flush();
    const { reader } = session;
    assert.deepEqual(idsOf(await reader.children("root")), ["z", "m", "a", "y", "b"]);
    assert.deepEqual(idsOf(await reader.children()), ["root", "another root", "aa root"]);
    assert.deepEqual(await reader.children("z"), []);
    assert.deepEqual(idsOf(await reader.path("y")), ["root", "y"]);
  }),
  storeCheck("a conversation continues where it was", ["STORE-2"], async (place) => {
    const session = await (await place.open()).createSession();
    const writer = createFactWriter(session);
    writer.add({}, [writer.node({ node_id: "1" })]);
    writer.add({}, [
      writer.node({ node_id: "2", parent_id: "1" }),
      writer.node({ node_id: "3", parent_id: "2" }),
    ]);
    await session.journal.flush();
    assert.deepEqual(idsOf(await session.reader.activePath("agent_1")), ["1", "2", "3"]);
    assert.equal((await session.reader.agents())[0]?.active_node_id, "3");
  }),
  storeCheck(
    "a result that came before the one it hangs from is found on the path once that is there",
    ["STORE-2", "PIPE-3"],
    async (place) => {
      const session = await (await place.open()).createSession();
      const writer = createFactWriter(session);
      const chain = range26().map((node_id, index, all) =>
        writer.node(index === 0 ? { node_id } : { node_id, parent_id: `${all[index - 1]}` }),
      );
      const path = async (): Promise<string[]> => idsOf(await session.reader.activePath("agent_1"));
      writer.add({}, chain.slice(0, 1));
      // The last first, some of them together with their parents, in any order.
      for (const part of [chain.slice(20), chain.slice(10, 15).toReversed(), chain.slice(15, 20)]) {
        writer.add({}, part);
        await session.journal.flush();
        assert.deepEqual(await path(), ["a"]);
      }
      assert.deepEqual(idsOf(await session.reader.path("z")), range26().slice(10));
      writer.add({}, chain.slice(5, 10));
      writer.add({}, chain.slice(1, 5).toReversed());
      await session.journal.flush();
      assert.deepEqual(await path(), range26());
    },
  ),
  storeCheck(
    "a rewind continues from an earlier node and loses nothing",
    ["STORE-2"],
    async (place) => {
      const store = await place.open();
      const session = await store.createSession();
      const { reader, journal } = session;
      const writer = createFactWriter(session);
      const say = (node_id: string, parent_id?: string): void => {
        writer.add({}, [
          writer.node(parent_id === undefined ? { node_id } : { node_id, parent_id }),
        ]);
      };
      const path = async (): Promise<string[]> => idsOf(await reader.activePath("agent_1"));
      say("1");
      say("2", "1");
      say("3", "2");
      await session.rewind(writer.recorder, "1");
      await journal.flush();
      assert.deepEqual(await path(), ["1"]);
      say("2b", "1");
      await journal.flush();
      assert.deepEqual(await path(), ["1", "2b"]);
      assert.deepEqual(idsOf(await reader.path("3")), ["1", "2", "3"]);
      assert.deepEqual(idsOf(await reader.children("1")), ["2", "2b"]);
      await session.rewind(writer.recorder, "3");
      say("4", "3");
      await journal.flush();
      assert.deepEqual(await path(), ["1", "2", "3", "4"]);
      const rewound = (await reader.facts()).filter(({ type }) => type === "context.rewound");
      assert.deepEqual(
        rewound.map(({ data }) => data),
        [
          { agent_id: "agent_1", node_id: "1" },
          { agent_id: "agent_1", node_id: "3" },
        ],
      );
      await session.rewind(writer.recorder, "2");
      await session.close();
      const again = await store.openSession(session.session_id);
      assert.deepEqual(idsOf(await again.reader.activePath("agent_1")), ["1", "2"]);
    },
  ),
  storeCheck(
    "a rewind to a node that is not there is refused and records nothing",
    ["STORE-2"],
    async (place) => {
      const store = await place.open();
      const [session, other] = [await store.createSession(), await store.createSession()];
      const writer = createFactWriter(session);
      writer.add({}, [writer.node({ node_id: "here" })]);
      const elsewhere = createFactWriter(other);
      elsewhere.add({}, [elsewhere.node({ node_id: "there" })]);
      await Promise.all([session.journal.flush(), other.journal.flush()]);
      for (const node_id of ["there", "", "nowhere", "__proto__"]) {
        await expectRefusal("node_unknown", () => session.rewind(writer.recorder, node_id));
      }
      await session.journal.flush();
      assert.equal((await session.reader.record()).last_seq, 1);
      assert.deepEqual(idsOf(await session.reader.activePath("agent_1")), ["here"]);
    },
  ),
  storeCheck("two agents continue side by side", ["STORE-2"], async (place) => {
    const session = await (await place.open()).createSession();
    const writer = createFactWriter(session);
    const agents = ["agent_1", "agent_2"];
    const expected: Record<string, string[]> = { agent_1: [], agent_2: [] };
    for (let i = 0; i < 12; i += 1) {
      const agent_id = agents[i % 3 === 0 ? 0 : 1] as string;
      const said = expected[agent_id] ?? [];
      const parent_id = said.at(-1);
      const node_id = `n${i}`;
      writer.add({}, [writer.node({ node_id, agent_id, parent_id })]);
      said.push(node_id);
    }
    await session.rewind(writer.recorder, "n4");
    await session.journal.flush();
    expected["agent_2"] = ["n1", "n2", "n4"];
    for (const agent_id of agents) {
      assert.deepEqual(idsOf(await session.reader.activePath(agent_id)), expected[agent_id]);
    }
  }),
  storeCheck(
    "nodes that hang from each other in a ring, or from nothing, end the path",
    ["STORE-2"],
    async (place) => {
      const session = await (await place.open()).createSession();
      const writer = createFactWriter(session);
      const ring = [
        writer.node({ node_id: "self", parent_id: "self" }),
        writer.node({ node_id: "x", parent_id: "y" }),
        writer.node({ node_id: "y", parent_id: "x" }),
        writer.node({ node_id: "orphan", parent_id: "never" }),
        writer.node({ node_id: "child", parent_id: "orphan" }),
      ];
      writer.add({}, ring);
      await session.journal.flush();
      assert.deepEqual(idsOf(await session.reader.path("child")), ["orphan", "child"]);
      for (const { node_id } of ring.slice(0, 3)) {
        const path = idsOf(await session.reader.path(node_id));
        assert.equal(path.at(-1), node_id);
        assert.equal(new Set(path).size, path.length, path.join(" "));
      }
      await session.reader.activePath("agent_1");
    },
  ),
  storeCheck("a path of ten thousand nodes is read whole", ["STORE-2"], async (place) => {
    const session = await (await place.open()).createSession();
    const writer = createFactWriter(session);
    const nodes = Array.from({ length: 10_000 }, (_, index) =>
      writer.node({ node_id: `n${index}`, ...(index === 0 ? {} : { parent_id: `n${index - 1}` }) }),
    );
    for (let i = 0; i < nodes.length; i += 500) writer.add({}, nodes.slice(i, i + 500));
    await session.journal.flush();
    const path = await session.reader.activePath("agent_1");
    assert.deepEqual(idsOf(path), idsOf(nodes));
  }),
];

function range26(): string[] {
  return Array.from("abcdefghijklmnopqrstuvwxyz");
}
