// All that JSON can hold comes back as it was, from the holder, from another handle and after reopening; ids
// a model made up stay apart however alike they look (EVENT-1).

import assert from "node:assert/strict";
import type { ConversationNode, Fact, FactData } from "@soong/core";
import { StoreError } from "@soong/store";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { allFacts, asWritten, expectRefusal, seqsOf } from "./expect.ts";
import { createFactWriter } from "./fact-writer.ts";

const HOSTILE: [what: string, data: FactData][] = [
  ["fields that are undefined", { a: undefined, list: [undefined, 1], deep: { b: undefined } }],
  ["lone halves of characters", { "\ud800": "a\udfffb", pair: "\ud83d\ude00" }],
  ["NUL and other control characters", { "a\0b": "\0x\u0001\u001f\u007f\u2028\u2029" }],
  [
    "keys that mean something to JavaScript",
    JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":2,"toString":3,"10":1,"9":2,"":0}',
    ) as FactData,
  ],
  [
    "numbers at the edges",
    {
      zero: -0,
      big: 1e308,
      small: 5e-324,
      safe: 2 ** 53,
      none: Number.NaN,
      inf: -Infinity,
      f: 0.1,
    },
  ],
  ["quotes, backslashes and SQL", { text: `'"\\\`; DROP TABLE facts; -- ?1 :a $b` }],
  ["text that looks like JSON", { text: '{"prev_hash":"0"}', prev_hash: "mine", nodes: [] }],
  ["a megabyte of text", { text: "ä".repeat(500_000) }],
  ["a deep value", { deep: nested(200) }],
  ["dates", { at: new Date(0) }],
];

/** Ids a careless comparison takes for the same, or for something else. */
const LOOK_ALIKES = [
  ["a", "A", "a ", " a", "a\0", "a\0b", "á", "a\u0301", "\ud800", "\ud801", "\ufffd"],
  ["1", "01", "1.0", "0x1", "1e0", "-0", "0", "null", "undefined", "", "%", "_", "*", "__proto__"],
].flat();

export const hostileData: readonly ConformanceCheck[] = [
  ...HOSTILE.map(([what, data]) =>
    storeCheck(
      `a fact and a node with ${what} are read as they were written`,
      ["EVENT-1"],
      async (place) => {
        const store = await place.open();
        const session = await store.createSession();
        const writer = createFactWriter(session);
        const node = writer.node({
          node_id: "n1",
          data: data as NonNullable<ConversationNode["data"]>,
        });
        const fact = writer.add({ data }, [node]);
        sameText(await allFacts(session.journal), [fact]);
        await session.journal.flush();
        sameText(await allFacts(session.journal), [fact]);
        const reader = await (await place.open()).readSession(session.session_id);
        sameText(await reader.facts(), [fact]);
        assert.equal(JSON.stringify(await reader.node("n1")), JSON.stringify(node));
        await session.close();
        const again = await store.openSession(session.session_id);
        sameText(await allFacts(again.journal), [fact]);
        const checked = await store.verify(session.session_id);
        assert.ok(checked.ok, checked.ok ? "" : checked.problem.message);
      },
    ),
  ),
  storeCheck(
    "calls whose ids look alike are different calls",
    ["EVENT-1", "RESULT-1"],
    async (place) => {
      const session = await (await place.open()).createSession();
      const writer = createFactWriter(session);
      const ids = { run_id: "run_1", agent_id: "agent_1" };
      for (const tool_call_id of LOOK_ALIKES) {
        writer.add({ ...ids, type: "tool.requested", tool_call_id, tool_name: tool_call_id });
      }
      for (const tool_call_id of LOOK_ALIKES) {
        const data = { result: { status: "succeeded" } };
        writer.add({ ...ids, type: "tool.completed", tool_call_id, tool_name: tool_call_id, data });
      }
      await session.journal.flush();
      const calls = await session.reader.calls();
      assert.deepEqual(
        calls.map(({ tool_call_id, tool_name, ended_seq }) => [tool_call_id, tool_name, ended_seq]),
        LOOK_ALIKES.map((id, index) => [id, id, LOOK_ALIKES.length + index + 1]),
      );
      for (const [index, tool_call_id] of LOOK_ALIKES.entries()) {
        assert.deepEqual(
          seqsOf(await session.reader.facts({ tool_call_id })),
          [index + 1, LOOK_ALIKES.length + index + 1],
          JSON.stringify(tool_call_id),
        );
      }
    },
  ),
  storeCheck(
    "runs, agents and nodes whose ids look alike are different ones, or refused at once",
    ["STORE-2"],
    async (place) => {
      const store = await place.open();
      const session = await store.createSession();
      const writer = createFactWriter(session);
      const taken: string[] = [];
      for (const id of LOOK_ALIKES) {
        const ids = { run_id: id, agent_id: id };
        try {
          writer.add({ ...ids, type: "run.started" }, [writer.node({ ...ids, node_id: id })]);
          taken.push(id);
        } catch (error) {
          assert.ok(error instanceof StoreError && error.code === "entry_refused", String(error));
          writer.takeBack();
        }
      }
      assert.ok(["a", "A", "a ", "á", "1", "01", "null", "%"].every((id) => taken.includes(id)));
      await session.journal.flush();
      const { reader } = session;
      assert.deepEqual(
        (await reader.runs()).map(({ run_id }) => run_id),
        taken,
      );
      const agents = (await reader.agents()).map(({ agent_id }) => agent_id);
      assert.deepEqual(agents.toSorted(), taken.toSorted());
      assert.deepEqual(
        (await reader.children()).map(({ node_id }) => node_id),
        taken,
      );
      for (const id of LOOK_ALIKES.filter((one) => !taken.includes(one))) {
        const shown = JSON.stringify(id);
        assert.equal(await reader.node(id), undefined, shown);
        assert.equal(await store.findRun(id), undefined, shown);
        assert.deepEqual(await reader.activePath(id), [], shown);
        assert.deepEqual(await reader.children(id), [], shown);
        assert.deepEqual(await reader.facts({ run_id: id }), [], shown);
        assert.deepEqual(await reader.calls({ run_id: id }), [], shown);
        await expectRefusal("node_unknown", () => session.rewind(writer.recorder, id));
      }
      for (const [index, id] of taken.entries()) {
        const shown = JSON.stringify(id);
        assert.equal((await reader.node(id))?.node_id, id, shown);
        assert.deepEqual(
          (await reader.activePath(id)).map(({ node_id }) => node_id),
          [id],
          shown,
        );
        assert.equal((await store.findRun(id))?.first_seq, index + 1, shown);
        assert.deepEqual(seqsOf(await reader.facts({ run_id: id })), [index + 1], shown);
      }
    },
  ),
];

/** By their text: a comparison of values does not see the order of keys, nor a key that hides. */
function sameText(got: readonly Fact[], written: readonly Fact[]): void {
  assert.equal(JSON.stringify(asWritten(got)), JSON.stringify(asWritten(written)));
}

function nested(depth: number): FactData {
  return depth === 0 ? {} : { deeper: nested(depth - 1) };
}
