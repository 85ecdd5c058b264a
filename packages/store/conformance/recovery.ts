// A session whose process was killed: every committed fact is there, every call gets exactly one result, every
// run an end, and nothing is run (STORE-3, PIPE-3).

import assert from "node:assert/strict";
import { isTerminalFact, RUNTIME_RESTARTED, type Fact, type ToolResult } from "@soong/core";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { allFacts, asWritten, expectFacts, range, seqsOf } from "./expect.ts";
import { interrupted } from "./interrupted-session.ts";
import { kernelOn } from "./kernel-run.ts";
import { createFactWriter } from "./fact-writer.ts";

const NOTHING_LOST = { unknown: [], skipped: [], runs: [] };

export const recovery: readonly ConformanceCheck[] = [
  storeCheck(
    "after a crash every call has one result, every run an end, and nothing was run",
    ["STORE-3", "PIPE-3", "RESULT-1"],
    async (place) => {
      const store = await place.open();
      const opened = await store.createSession();
      const before = await interrupted(opened);
      const facts = await allFacts(opened.journal);
      await place.crash(store);

      const reopened = await place.open();
      const again = await reopened.openSession(opened.session_id);
      const after = await allFacts(again.journal);
      expectFacts(after.slice(0, facts.length), facts);
      assert.equal(again.lastSeq, after.length);
      assert.deepEqual(seqsOf(after), range(1, after.length));
      const { run_id, child_id } = before;
      assert.deepEqual(again.recovered, {
        unknown: ["call_read", "call_write", "call_child"],
        skipped: ["call_queued", "call_last"],
        runs: again.recovered.runs,
      });
      assert.deepEqual(new Set(again.recovered.runs), new Set([run_id, child_id]));

      const statuses = (await again.reader.calls()).map(({ tool_call_id, status }) => [
        tool_call_id,
        status,
      ]);
      assert.deepEqual(statuses, [
        ["call_done", "succeeded"],
        ["call_read", "unknown"],
        ["call_beside", "succeeded"],
        ["call_write", "unknown"],
        ["call_queued", "skipped"],
        ["call_last", "skipped"],
        ["call_child", "unknown"],
      ]);
      for (const [tool_call_id] of statuses) {
        const ends = after.filter(
          (fact) => fact.tool_call_id === tool_call_id && isTerminalFact(fact),
        );
        assert.equal(ends.length, 1, tool_call_id);
      }
      const recovered = after.slice(facts.length);
      const ends = recovered.filter((fact) => fact.type === "run.failed");
      assert.deepEqual(
        ends.map((fact) => fact.run_id),
        [child_id, run_id],
      );
      assert.ok(ends.every(({ data }) => data.reason === RUNTIME_RESTARTED));
      const calls = recovered.filter(isTerminalFact);
      assert.ok(calls.every(({ tool_call_id }) => tool_call_id !== undefined));
      assert.equal(calls.length + ends.length, recovered.length);
      for (const { data } of calls) {
        assert.equal(data.result.error?.code, RUNTIME_RESTARTED);
      }
      for (const run of await again.reader.runs()) {
        assert.equal(run.status, "failed");
        const seqs = after.flatMap((fact) => (fact.run_id === run.run_id ? [fact.run_seq] : []));
        assert.deepEqual(seqs, range(1, seqs.length));
      }
      const path = await again.reader.activePath(before.agent_id);
      assert.deepEqual(
        path.map(({ tool_call_id }) => tool_call_id),
        ["call_done", "call_read", "call_beside", "call_write", "call_queued", "call_last"],
      );
      assert.deepEqual(before.kernel.executed, before.executed);
      assert.ok((await reopened.verify(opened.session_id)).ok);
      expectFacts(await (await (await place.open()).readSession(opened.session_id)).facts(), after);
    },
  ),
  storeCheck("a second reopening recovers nothing more", ["STORE-3"], async (place) => {
    const store = await place.open();
    const opened = await store.createSession();
    await interrupted(opened);
    await place.crash(store);
    const second = await place.open();
    const { journal, recovered } = await second.openSession(opened.session_id);
    assert.notDeepEqual(recovered, NOTHING_LOST);
    const facts = await allFacts(journal);
    await place.crash(second);
    const third = await place.open();
    const again = await third.openSession(opened.session_id);
    assert.deepEqual(again.recovered, NOTHING_LOST);
    expectFacts(await allFacts(again.journal), facts);
    assert.ok((await third.verify(opened.session_id)).ok);
  }),
  storeCheck("a recovered session continues, with a run of its own", ["STORE-3"], async (place) => {
    const store = await place.open();
    const opened = await store.createSession();
    await interrupted(opened);
    await place.crash(store);
    const reopened = await place.open();
    const again = await reopened.openSession(opened.session_id);
    const { session, startRun, executed } = await kernelOn(again);
    const run = await startRun();
    assert.equal((await run.call("demo.write", {})).status, "succeeded");
    run.end("completed");
    await session.close();
    assert.deepEqual([...executed], [["demo.write", 1]]);
    const facts = await again.reader.facts();
    assert.deepEqual(seqsOf(facts), range(1, facts.length));
    assert.equal(facts.filter(({ type }) => type === "session.created").length, 1);
    assert.ok((await reopened.verify(opened.session_id)).ok);
  }),
  storeCheck(
    "reading a session that a crash left open changes nothing in it",
    ["STORE-3"],
    async (place) => {
      const store = await place.open();
      const opened = await store.createSession();
      await interrupted(opened);
      const facts = await allFacts(opened.journal);
      await place.crash(store);
      const other = await place.open();
      const reader = await other.readSession(opened.session_id);
      expectFacts(await reader.facts(), facts);
      assert.ok((await reader.calls()).some(({ status }) => status === undefined));
      assert.ok((await other.verify(opened.session_id)).ok);
      expectFacts(await reader.facts(), facts);
    },
  ),
  storeCheck(
    "a session closed by a crash with nothing open is as it was",
    ["STORE-3"],
    async (place) => {
      const store = await place.open();
      const opened = await store.createSession();
      const { startRun } = await kernelOn(opened);
      const run = await startRun();
      await run.call("demo.write", {});
      run.end("completed");
      await opened.journal.flush();
      const facts = await allFacts(opened.journal);
      await place.crash(store);
      const again = await (await place.open()).openSession(opened.session_id);
      assert.deepEqual(again.recovered, NOTHING_LOST);
      assert.equal(again.lastSeq, facts.length);
      expectFacts(await allFacts(again.journal), facts);
    },
  ),
  storeCheck(
    "of what was not flushed whole entries are there or nothing, of what was flushed everything",
    ["STORE-1", "STORE-3", "PIPE-3"],
    async (place) => {
      const store = await place.open();
      const opened = await store.createSession();
      const writer = createFactWriter(opened);
      const written: Fact[] = [];
      const append = (node_id: string): void => {
        const facts = [writer.fact(), writer.fact(), writer.fact()];
        opened.journal.append({ facts, nodes: [writer.node({ node_id })] });
        written.push(...facts);
      };
      append("n1");
      append("n2");
      await opened.journal.flush();
      append("n3");
      append("n4");
      await place.crash(store);
      const again = await (await place.open()).openSession(opened.session_id);
      const kept = await allFacts(again.journal);
      assert.ok([6, 9, 12].includes(kept.length), `${kept.length} facts`);
      expectFacts(kept, written.slice(0, kept.length));
      assert.equal((await again.reader.children()).length, kept.length / 3);
      createFactWriter(again).add();
      await again.journal.flush();
      assert.equal((await again.reader.record()).last_seq, kept.length + 1);
    },
  ),
  storeCheck("a session killed before its first fact is a new one", ["STORE-3"], async (place) => {
    const store = await place.open();
    const { session_id } = await store.createSession({ title: "kept" });
    await place.crash(store);
    const again = await (await place.open()).openSession(session_id);
    assert.equal(again.lastSeq, undefined);
    assert.deepEqual(again.recovered, NOTHING_LOST);
    assert.equal((await again.reader.record()).title, "kept");
  }),
  storeCheck("a run that was only queued ends, too", ["STORE-3"], async (place) => {
    const store = await place.open();
    const opened = await store.createSession();
    createFactWriter(opened).add({
      type: "run.queued",
      run_id: "run_q",
      agent_id: "agent_1",
      run_seq: 1,
    });
    await opened.journal.flush();
    await place.crash(store);
    const reopened = await place.open();
    const again = await reopened.openSession(opened.session_id);
    assert.deepEqual(again.recovered, { ...NOTHING_LOST, runs: ["run_q"] });
    assert.equal((await reopened.findRun("run_q"))?.status, "failed");
  }),
  storeCheck(
    "what a lost call had put aside is in its result",
    ["STORE-3", "ART-1"],
    async (place) => {
      const store = await place.open();
      const opened = await store.createSession();
      const writer = createFactWriter(opened);
      const ids = { run_id: "run_1", agent_id: "agent_1" };
      const call = { ...ids, tool_call_id: "c1", tool_name: "demo.write" };
      const { artifact_id, sha256, media_type, size } = await opened.artifacts.write("half", {
        media_type: "text/plain",
        session_id: opened.session_id,
        run_id: "run_1",
        tool_call_id: "c1",
      });
      const ref = { artifact_id, sha256, media_type, size };
      writer.add({ ...ids, type: "run.started", run_seq: 1 });
      writer.add({ ...call, type: "tool.requested", run_seq: 2, data: { node_id: "n1" } });
      writer.add({ ...call, type: "tool.started", run_seq: 3 });
      writer.add({ ...call, type: "artifact.created", run_seq: 4, data: ref });
      await opened.journal.flush();
      await place.crash(store);
      const again = await (await place.open()).openSession(opened.session_id);
      const end = asWritten(await allFacts(again.journal)).find(isTerminalFact);
      const { result } = (end?.data ?? {}) as { result: ToolResult };
      assert.deepEqual(
        result.artifacts.map((kept) => kept.artifact_id),
        [artifact_id],
      );
      const bytes = await again.reader.readArtifact(artifact_id);
      assert.equal(Buffer.from(bytes ?? []).toString(), "half");
      assert.deepEqual(
        (await again.reader.activePath("agent_1")).map(({ node_id }) => node_id),
        ["n1"],
      );
    },
  ),
];
