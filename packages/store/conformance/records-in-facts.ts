// The records of calls and runs, made from the facts of a session the plain way, to compare a store's with.

import { isTerminalFact, type Fact } from "@soong/core";
import type { CallRecord, RunRecord } from "@soong/store";
import { asWritten } from "./expect.ts";

export function callsIn(recorded: readonly Fact[]): CallRecord[] {
  const calls: CallRecord[] = [];
  for (const fact of asWritten(recorded)) {
    const { type, seq, run_id = "", tool_call_id, tool_name = "" } = fact;
    if (tool_call_id === undefined) continue;
    const call = calls.find(
      (known) => known.run_id === run_id && known.tool_call_id === tool_call_id,
    );
    if (type === "tool.requested")
      calls.push({ run_id, tool_call_id, tool_name, requested_seq: seq });
    else if (call !== undefined && type === "tool.started") call.started_seq = seq;
    else if (call !== undefined && isTerminalFact(fact)) {
      call.ended_seq = seq;
      call.status = fact.data.result.status;
    }
  }
  return calls;
}

export function runsIn(recorded: readonly Fact[]): RunRecord[] {
  const runs: RunRecord[] = [];
  for (const fact of asWritten(recorded)) {
    const { type, seq, time, run_id, agent_id = "", session_id, parent_run_id, data } = fact;
    if (run_id === undefined) continue;
    let run = runs.find((known) => known.run_id === run_id);
    if (run === undefined) {
      const above = parent_run_id === undefined ? {} : { parent_run_id };
      const status = type === "run.queued" ? "queued" : "running";
      run = {
        run_id,
        session_id,
        agent_id,
        ...above,
        status,
        started_at: time,
        first_seq: seq,
        last_seq: seq,
      };
      runs.push(run);
    }
    run.last_seq = seq;
    if (type === "run.started" && data.role !== undefined) run.role = data.role;
    if (type === "run.completed" || type === "run.failed" || type === "run.aborted") {
      run.status = type.slice("run.".length) as RunRecord["status"];
      run.ended_at = time;
    }
  }
  return runs;
}
