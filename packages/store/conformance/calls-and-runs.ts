// Agents, runs and calls as the facts of a real run say: derived here a second time, the plain way, and
// compared (EVENT-1, STORE-2).

import assert from "node:assert/strict";
import { isTerminalFact, type ToolResult } from "@soong/core";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { allFacts, expectFacts, settled } from "./expect.ts";
import { kernelOn } from "./kernel-run.ts";
import { createFactWriter } from "./fact-writer.ts";
import { callsIn, runsIn } from "./records-in-facts.ts";

export const callsAndRuns: readonly ConformanceCheck[] = [
  storeCheck(
    "a real run with a failing call, a denied one and a child leaves the records its facts tell",
    ["EVENT-1", "STORE-1", "STORE-2"],
    async (place) => {
      const store = await place.open();
      const opened = await store.createSession();
      const { session, startRun } = await kernelOn(opened);
      const run = await startRun();
      const calls = ["demo.read", "demo.fail", "demo.forbidden", "demo.write", "demo.unknown"];
      const results = await run.execute(
        calls.map((name, i) => ({ id: `c${i}`, name, arguments: {} })),
      );
      const { run_id, agent_id } = run.identity;
      const child = await startRun({
        parent: { run_id, agent_id, policy: run.policy },
        role: "sub",
      });
      const [ofChild] = await child.execute([{ id: "c0", name: "demo.read", arguments: {} }]);
      child.end("failed", { message: "gave up" });
      run.end("completed");
      await session.close();

      const facts = await allFacts(opened.journal);
      const reader = await (await place.open()).readSession(opened.session_id);
      expectFacts(await reader.facts(), facts);
      assert.deepEqual(await reader.calls(), callsIn(facts));
      assert.deepEqual(await reader.runs(), runsIn(facts));
      assert.deepEqual(
        (await reader.calls({ run_id })).map(({ tool_name, status }) => [tool_name, status]),
        results.map(({ tool_name, status }) => [tool_name, status]),
      );
      assert.deepEqual(
        results.map(({ status }) => status),
        ["succeeded", "failed", "denied", "succeeded", "denied"],
      );
      assert.equal((await reader.calls({ run_id: child.identity.run_id })).length, 1);
      assert.deepEqual(await reader.calls({ run_id: "nowhere" }), []);
      assert.deepEqual(await reader.calls({ isOpen: true }), []);
      assert.deepEqual(
        (await reader.runs()).map(({ status, role, parent_run_id }) => [
          status,
          role,
          parent_run_id,
        ]),
        [
          ["completed", "main", undefined],
          ["failed", "sub", run_id],
        ],
      );
      const [, childRun] = runsIn(facts);
      assert.deepEqual(await store.findRun(child.identity.run_id), childRun);
      assert.equal(await store.findRun("nowhere"), undefined);

      const [parentAgent, childAgent] = await reader.agents();
      const nodeOf = (result: ToolResult | undefined, of: string): unknown =>
        facts.find(
          (fact) =>
            fact.run_id === of &&
            isTerminalFact(fact) &&
            fact.tool_call_id === result?.tool_call_id,
        )?.data;
      assert.deepEqual(
        [parentAgent?.agent_id, parentAgent?.parent_agent_id],
        [agent_id, undefined],
      );
      assert.deepEqual(
        [childAgent?.agent_id, childAgent?.parent_agent_id],
        [child.identity.agent_id, agent_id],
      );
      const lastOfParent = nodeOf(results.at(-1), run_id) as { node_id: string };
      assert.equal(parentAgent?.active_node_id, lastOfParent.node_id);
      const path = await reader.activePath(agent_id);
      assert.deepEqual(
        path.map(({ tool_call_id }) => tool_call_id),
        ["c0", "c1", "c2", "c3", "c4"],
      );
      assert.deepEqual(
        path.map(({ content }) => content),
        results.map(({ content }) => content),
      );
      const childPath = await reader.activePath(child.identity.agent_id);
      assert.deepEqual(
        childPath.map(({ content }) => content),
        [ofChild?.content],
      );
    },
  ),
  storeCheck("a call and a run that are under way have no end yet", ["EVENT-1"], async (place) => {
    const opened = await (await place.open()).createSession();
    const { startRun } = await kernelOn(opened);
    const run = await startRun();
    const turn = run.openTurn();
    for (const name of ["demo.hang_read", "demo.hang_write", "demo.write"]) {
      turn.push({ id: name, name, arguments: {} });
    }
    turn.end();
    await settled();
    await opened.journal.flush();
    const facts = await allFacts(opened.journal);
    const calls = await opened.reader.calls();
    assert.deepEqual(calls, callsIn(facts));
    assert.ok(calls.every((call) => !("status" in call) && !("ended_seq" in call)));
    assert.deepEqual(await opened.reader.calls({ isOpen: true }), calls);
    assert.ok(calls[0]?.started_seq !== undefined && calls[2]?.started_seq === undefined);
    const [record] = await opened.reader.runs();
    assert.equal(record?.status, "running");
    assert.ok(record !== undefined && !("ended_at" in record));
    assert.deepEqual(await opened.reader.runs(), runsIn(facts));
  }),
  storeCheck("a run is queued, started and ended as its facts say", ["EVENT-1"], async (place) => {
    const store = await place.open();
    const session = await store.createSession();
    const writer = createFactWriter(session);
    const ids = { run_id: "run_1", agent_id: "agent_1" };
    const steps = [
      ["run.queued", "queued"],
      ["run.started", "running"],
      ["task.noted", "running"],
      ["run.aborted", "aborted"],
    ] as const;
    for (const [index, [type, status]] of steps.entries()) {
      const time = `2026-01-01T00:00:0${index}.000Z`;
      writer.add({ ...ids, type, time, run_seq: index + 1 });
      writer.add({ time });
      await session.journal.flush();
      const record = await store.findRun("run_1");
      assert.deepEqual([record?.status, record?.last_seq], [status, 2 * index + 1]);
    }
    const record = await store.findRun("run_1");
    assert.equal(record?.first_seq, 1);
    assert.equal(record.ended_at, "2026-01-01T00:00:03.000Z");
    assert.equal(record.session_id, session.session_id);
  }),
  storeCheck(
    "agents come parents first, though a child was recorded first",
    ["STORE-2"],
    async (place) => {
      const session = await (await place.open()).createSession();
      const writer = createFactWriter(session);
      const run = (run_id: string, agent_id: string, parent?: string): void => {
        const above =
          parent === undefined ? {} : { parent_run_id: `r_${parent}`, parent_agent_id: parent };
        writer.add({ type: "run.started", run_id, agent_id, run_seq: 1, ...above });
      };
      run("r_grandchild", "grandchild", "child");
      run("r_child", "child", "root");
      run("r_root", "root");
      run("r_second", "second", "root");
      await session.journal.flush();
      const agents = await session.reader.agents();
      const ids = agents.map(({ agent_id }) => agent_id);
      assert.deepEqual(new Set(ids), new Set(["root", "child", "grandchild", "second"]));
      for (const { agent_id, parent_agent_id } of agents) {
        if (parent_agent_id === undefined) continue;
        assert.ok(
          ids.indexOf(parent_agent_id) < ids.indexOf(agent_id),
          `${agent_id} in ${ids.join(" ")}`,
        );
      }
    },
  ),
  storeCheck(
    "a run that is taken up again is under way again",
    ["EVENT-1", "STORE-3"],
    async (place) => {
      const store = await place.open();
      const session = await store.createSession();
      const writer = createFactWriter(session);
      const ids = { run_id: "run_1", agent_id: "agent_1" };
      for (const type of ["run.started", "run.completed", "run.started"] as const) {
        writer.add({ ...ids, type });
        await session.journal.flush();
      }
      const record = await store.findRun("run_1");
      assert.equal(record?.status, "running");
      assert.ok(!("ended_at" in record), "a run under way has no end");
      await place.crash(store);
      const again = await (await place.open()).openSession(session.session_id);
      assert.deepEqual(again.recovered.runs, ["run_1"]);
    },
  ),
  storeCheck(
    "a result of a call is in the store as a whole",
    ["EVENT-1", "ART-2"],
    async (place) => {
      const opened = await (await place.open()).createSession();
      const { session, startRun } = await kernelOn(opened);
      const run = await startRun();
      const result = await run.call("demo.long", {});
      run.end("completed");
      await session.close();
      const reader = await (await place.open()).readSession(opened.session_id);
      const terminal = (await reader.facts()).find(isTerminalFact);
      assert.deepEqual(terminal?.data, JSON.parse(JSON.stringify({ ...terminal?.data, result })));
      const [ref] = result.artifacts;
      const bytes = await reader.readArtifact(ref?.artifact_id ?? "");
      assert.ok(
        Buffer.from(bytes ?? [])
          .toString()
          .includes("long ".repeat(39_999)),
      );
      assert.deepEqual(
        (await reader.artifacts())
          .filter(({ tool_call_id }) => tool_call_id !== undefined)
          .map(({ artifact_id }) => artifact_id),
        [ref?.artifact_id],
      );
    },
  ),
];
