// The hash chain, computed here a second time from what the store gives out (EVENT-6).

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { expectRefusal } from "./expect.ts";
import { kernelOn } from "./kernel-run.ts";
import { createFactWriter } from "./fact-writer.ts";

const BEGINNING = "0".repeat(64);

const hashOf = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

export const chain: readonly ConformanceCheck[] = [
  storeCheck(
    "each fact carries the hash of the one before, also over a reopening",
    ["EVENT-6"],
    async (place) => {
      const store = await place.open();
      const opened = await store.createSession();
      assert.equal((await opened.reader.record()).head_hash, BEGINNING);
      const { session, startRun } = await kernelOn(opened);
      const run = await startRun();
      await run.execute([
        { name: "demo.write", arguments: { text: "ä😀\ud800\0" } },
        { name: "demo.fail", arguments: {} },
      ]);
      run.end("completed");
      await session.close();
      await opened.close();
      const again = await store.openSession(opened.session_id);
      const writer = createFactWriter(again);
      writer.add({ data: { late: true } }, [writer.node({ node_id: "late" })]);
      await again.journal.flush();

      const facts = await again.reader.facts();
      let previous = BEGINNING;
      for (const fact of facts) {
        assert.equal(fact.prev_hash, previous, `fact ${fact.seq}`);
        previous = hashOf(JSON.stringify(fact));
      }
      assert.equal((await again.reader.record()).head_hash, previous);
      assert.deepEqual(await store.verify(opened.session_id), {
        ok: true,
        facts: facts.length,
        head_hash: previous,
      });
      assert.deepEqual(await again.journal.read(0, 10_000), facts);
    },
  ),
  storeCheck(
    "what is not durable yet has its hash already, and keeps it",
    ["EVENT-6"],
    async (place) => {
      const opened = await (await place.open()).createSession();
      const writer = createFactWriter(opened);
      for (let i = 0; i < 5; i += 1) writer.add({ data: { i } });
      const pending = await opened.journal.read(0, 10);
      await opened.journal.flush();
      assert.deepEqual(await opened.reader.facts(), pending);
      assert.equal(pending[0]?.prev_hash, BEGINNING);
    },
  ),
  storeCheck(
    "the last fact of an entry names the nodes that came with it",
    ["EVENT-6", "STORE-1"],
    async (place) => {
      const opened = await (await place.open()).createSession();
      const writer = createFactWriter(opened);
      const nodes = [
        writer.node({ node_id: "n1" }),
        writer.node({ node_id: "n2", parent_id: "n1" }),
      ];
      opened.journal.append({ facts: [writer.fact(), writer.fact()], nodes });
      writer.add();
      await opened.journal.flush();
      const [first, second, third] = await opened.reader.facts();
      assert.ok(first !== undefined && !("nodes" in first));
      assert.ok(third !== undefined && !("nodes" in third));
      assert.deepEqual(
        second?.nodes?.map(({ node_id }) => node_id),
        ["n1", "n2"],
      );
      for (const { node_id, sha256 } of second.nodes ?? []) {
        assert.equal(sha256, hashOf(JSON.stringify(await opened.reader.node(node_id))), node_id);
      }
    },
  ),
  storeCheck("an empty session verifies", ["EVENT-6"], async (place) => {
    const store = await place.open();
    const { session_id } = await store.createSession();
    assert.deepEqual(await store.verify(session_id), { ok: true, facts: 0, head_hash: BEGINNING });
    await expectRefusal("session_unknown", () => store.verify("nowhere"));
  }),
  storeCheck(
    "a head kept elsewhere is found, and one that is not of the session is not",
    ["EVENT-6"],
    async (place) => {
      const store = await place.open();
      const opened = await store.createSession();
      const writer = createFactWriter(opened);
      const heads: string[] = [];
      for (let i = 0; i < 4; i += 1) {
        writer.add({ data: { i } });
        await opened.journal.flush();
        heads.push((await opened.reader.record()).head_hash);
      }
      assert.equal(new Set(heads).size, 4);
      for (const head of heads) {
        assert.equal((await store.verify(opened.session_id, { head })).ok, true, head);
      }
      for (const head of ["f".repeat(64), "", heads[0]?.slice(1) ?? ""]) {
        const checked = await store.verify(opened.session_id, { head });
        assert.ok(!checked.ok, `head ${JSON.stringify(head)}`);
        assert.equal(checked.problem.kind, "head");
        assert.ok(checked.problem.message.length > 10);
      }
    },
  ),
  storeCheck(
    "artifacts are checked when that is asked for",
    ["EVENT-6", "ART-1"],
    async (place) => {
      const store = await place.open();
      const opened = await store.createSession();
      const { session, startRun } = await kernelOn(opened);
      const run = await startRun();
      await run.call("demo.long", {});
      run.end("completed");
      await session.close();
      const checked = await store.verify(opened.session_id, { artifacts: true });
      assert.ok(checked.ok, checked.ok ? "" : checked.problem.message);
    },
  ),
  storeCheck("a session is verified while another handle writes it", ["EVENT-6"], async (place) => {
    const opened = await (await place.open()).createSession();
    const other = await place.open();
    const writer = createFactWriter(opened);
    for (let i = 0; i < 20; i += 1) {
      writer.add({}, [writer.node({ node_id: `n${i}` })]);
      const flushed = opened.journal.flush();
      const checked = await other.verify(opened.session_id);
      assert.ok(checked.ok, checked.ok ? "" : checked.problem.message);
      await flushed;
    }
    assert.equal((await other.verify(opened.session_id)).facts, 20);
  }),
];
