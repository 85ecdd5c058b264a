// What has to be true of the facts of a session once it was opened again, worked out from the facts alone and
// held against what the store says of them. Throws at the first thing that is not so.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { isTerminalFact, terminalFactType, type Fact, type ToolResult } from "@soong/core";
import type { CallRecord, Recovery, RunRecord, SessionReader } from "@soong/store";
import type { Reported } from "./reported.ts";
import { MAIN_AGENT } from "./work.ts";

export async function allFacts(reader: SessionReader): Promise<Fact[]> {
  const facts: Fact[] = [];
  for (;;) {
    const page = await reader.facts({ after: facts.length });
    if (page.length === 0) return facts;
    facts.push(...page);
  }
}

export async function checkFacts(
  reader: SessionReader,
  facts: readonly Fact[],
  reported: Reported,
  recovered: Recovery,
): Promise<void> {
  checkChain(facts);
  checkReported(facts, reported);
  const calls = callsIn(facts);
  checkResults(facts, calls, reported, recovered);
  assert.deepEqual(await reader.calls(), calls, "the records of the calls are those of the facts");
  assert.deepEqual(await reader.runs(), runsIn(facts), "the records of the runs");
  await checkConversation(reader, facts);
}

/** Without a hole, each with the hash of the one before. */
function checkChain(facts: readonly Fact[]): void {
  let hash = "0".repeat(64);
  const runSeq = new Map<string, number>();
  for (const [i, fact] of facts.entries()) {
    assert.equal(fact.seq, i + 1, "a hole in seq");
    assert.equal(fact.prev_hash, hash, `the chain is broken at ${fact.seq}`);
    hash = sha256(JSON.stringify(fact));
    if (fact.run_id === undefined) continue;
    const next = (runSeq.get(fact.run_id) ?? 0) + 1;
    assert.equal(fact.run_seq, next, `a hole in run_seq at ${fact.seq}`);
    runSeq.set(fact.run_id, next);
  }
}

function checkReported(facts: readonly Fact[], reported: Reported): void {
  for (const [seq, hash] of reported.durable) {
    const fact = facts[seq - 1];
    assert.ok(fact, `fact ${seq} was durable and is gone`);
    const { prev_hash: _hash, nodes: _nodes, ...appended } = fact;
    assert.equal(sha256(JSON.stringify(appended)), hash, `fact ${seq} is not what was appended`);
  }
}

/** Exactly one result for every call, and the right one for those that a crash cut short. */
function checkResults(
  facts: readonly Fact[],
  calls: readonly CallRecord[],
  reported: Reported,
  recovered: Recovery,
): void {
  const lost = { unknown: new Set(recovered.unknown), skipped: new Set(recovered.skipped) };
  for (const { tool_call_id, started_seq, ended_seq, status } of calls) {
    assert.ok(ended_seq !== undefined, `call ${tool_call_id} has no result`);
    const result = resultOf(facts[ended_seq - 1] as Fact);
    assert.equal(result.tool_call_id, tool_call_id);
    assert.equal(result.status, status);
    assert.equal(facts[ended_seq - 1]?.type, terminalFactType(result.status));
    assert.equal(typeof result.is_error, "boolean");
    assert.ok(result.content.length > 0, `the result of ${tool_call_id} says nothing`);
    assert.ok(Array.isArray(result.artifacts));
    assert.equal(typeof result.metadata.duration_ms, "number");
    const wasDelivered = reported.results.get(tool_call_id);
    if (wasDelivered !== undefined) {
      assert.equal(status, wasDelivered, `call ${tool_call_id} had ended otherwise`);
    }
    const wasLost = result.error?.code === "runtime_restarted";
    if (wasLost) assert.equal(status, started_seq === undefined ? "skipped" : "unknown");
    else assert.notEqual(status, "unknown");
    for (const kind of ["unknown", "skipped"] as const) {
      if (lost[kind].delete(tool_call_id)) assert.ok(wasLost && status === kind, tool_call_id);
    }
  }
  assert.deepEqual([...lost.unknown, ...lost.skipped], [], "recovered what was never asked for");
  for (const tool_call_id of reported.results.keys()) {
    assert.ok(
      calls.some((call) => call.tool_call_id === tool_call_id),
      `call ${tool_call_id} was answered and is gone`,
    );
  }
}

/** The records as the facts have it; a second start, a second end or an end of nothing is refused. */
export function callsIn(facts: readonly Fact[]): CallRecord[] {
  const calls = new Map<string, CallRecord>();
  for (const fact of facts) {
    const { seq, type, run_id, tool_call_id, tool_name } = fact;
    if (run_id === undefined || tool_call_id === undefined) continue;
    const call = calls.get(tool_call_id);
    if (type === "tool.requested") {
      assert.equal(call, undefined, `call ${tool_call_id} was asked for twice`);
      calls.set(tool_call_id, {
        run_id,
        tool_call_id,
        tool_name: tool_name ?? "",
        requested_seq: seq,
      });
      continue;
    }
    assert.ok(call, `${type} of call ${tool_call_id}, which nobody asked for`);
    assert.equal(call.run_id, run_id);
    if (type === "tool.started") {
      assert.equal(call.started_seq, undefined, `call ${tool_call_id} was started twice`);
      assert.equal(call.ended_seq, undefined, `call ${tool_call_id} was started after its end`);
      call.started_seq = seq;
    } else if (isTerminalFact(fact)) {
      assert.equal(call.ended_seq, undefined, `call ${tool_call_id} has two results`);
      call.ended_seq = seq;
      call.status = fact.data.result.status;
    }
  }
  return [...calls.values()];
}

function runsIn(facts: readonly Fact[]): RunRecord[] {
  const runs = new Map<string, RunRecord>();
  for (const { seq, type, time, session_id, run_id, agent_id, parent_run_id, data } of facts) {
    if (run_id === undefined) continue;
    const run: RunRecord = runs.get(run_id) ?? {
      run_id,
      session_id,
      agent_id: agent_id ?? "",
      ...(parent_run_id === undefined ? {} : { parent_run_id }),
      status: "running",
      started_at: time,
      first_seq: seq,
      last_seq: seq,
    };
    runs.set(run_id, run);
    run.last_seq = seq;
    if (type === "run.started") run.role = (data as { role: string }).role;
    const ended = /^run\.(completed|failed|aborted)$/.exec(type)?.[1];
    if (ended === undefined) continue;
    assert.equal(run.ended_at, undefined, `run ${run_id} ended twice`);
    run.status = ended as RunRecord["status"];
    run.ended_at = time;
  }
  for (const run of runs.values()) assert.ok(run.ended_at, `run ${run.run_id} has no end`);
  return [...runs.values()];
}

async function checkConversation(reader: SessionReader, facts: readonly Fact[]): Promise<void> {
  const requested = facts.filter((fact) => fact.type === "tool.requested");
  for (const fact of facts) {
    const { node_id } = fact.data as { node_id?: string };
    if (!isTerminalFact(fact)) continue;
    assert.ok(node_id !== undefined);
    // The last fact of an entry says which nodes came with it; recovery is one entry.
    const digests = facts.slice(fact.seq - 1).find(({ nodes }) => nodes !== undefined)?.nodes;
    assert.ok(
      digests?.some((digest) => digest.node_id === node_id),
      `fact ${fact.seq} and its node were not committed together`,
    );
    const node = await reader.node(node_id);
    assert.ok(node, `the node of call ${fact.tool_call_id} is gone`);
    assert.equal(node.tool_call_id, fact.tool_call_id);
    assert.deepEqual(node.content, resultOf(fact).content);
    if (node.parent_id === undefined) continue;
    assert.ok(await reader.node(node.parent_id), `node ${node_id} hangs from nothing`);
  }
  const agents = await reader.agents();
  const known = facts.flatMap(({ agent_id }) => (agent_id === undefined ? [] : [agent_id]));
  assert.deepEqual(
    agents.map(({ agent_id }) => agent_id),
    [...new Set(known)],
  );
  for (const { agent_id, parent_agent_id } of agents) {
    const said = facts.find((fact) => fact.agent_id === agent_id);
    assert.equal(parent_agent_id, said?.parent_agent_id);
    const ofAgent = requested.filter((fact) => fact.agent_id === agent_id);
    const path = await reader.activePath(agent_id);
    assert.deepEqual(
      path.map((node) => node.tool_call_id),
      // The conversation of the main agent is one line; another's is that of its one turn.
      ofAgent.map((fact) => fact.tool_call_id),
      agent_id === MAIN_AGENT ? "the conversation" : `the conversation of ${agent_id}`,
    );
  }
}

function resultOf(fact: Fact): ToolResult {
  return (fact.data as { result: ToolResult }).result;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
