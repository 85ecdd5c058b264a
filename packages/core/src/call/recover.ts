// What a crash left open, closed (STORE-3, RESULT-1): every call without an end gets its one result, every
// run without an end ends. Runs nothing and asks no one; the owner of the journal commits the entry.

import { omitUndefined } from "@soong/schema";
import {
  terminalFactType,
  type ConversationNode,
  type Fact,
  type FactContent,
  type JournalEntry,
  type TerminalFactType,
} from "../journal/index.ts";
import { readCallClass } from "../schedule/schedule.ts";
import type { ArtifactRef, ToolError, ToolResult } from "../tool/index.ts";
import { artifactRef } from "./context.ts";
import { callError, type CallErrorCode } from "./endings.ts";
import { artifactBlock } from "./execute.ts";
import { NO_PROVENANCE } from "./finish.ts";

/** A call that was asked for and has no terminal fact. */
export interface LostCall {
  readonly requested: Fact<"tool.requested">;
  /** Its `tool.started`, if execution had begun. */
  readonly started?: Fact<"tool.started"> | undefined;
  /** What it had put aside since it started, as its `artifact.created` say: before that are its arguments. */
  readonly artifacts: readonly ArtifactRef[];
}

/** A run that has no end, or has one and left calls without theirs. */
export interface LostRun {
  /** Any fact of the run; its ids are taken from it. */
  readonly fact: Fact;
  readonly lastRunSeq: number;
  /** A run does not wait for its calls: it may have ended before them, and does not end again. */
  readonly hasEnded?: boolean;
}

export interface LostSession {
  readonly lastSeq: number;
  readonly time: string;
  /** In the order they were asked for. */
  readonly calls: readonly LostCall[];
  /** Every run a lost call is of, and any other without an end; parents before their children. */
  readonly runs: readonly LostRun[];
}

/** The error code of calls and runs that a crash left without an end. */
export const RUNTIME_RESTARTED = "runtime_restarted" satisfies CallErrorCode;

/** Undefined when nothing was lost. */
export function recoveryEntry(session: LostSession): JournalEntry | undefined {
  const { lastSeq, time } = session;
  const callsOf = callsByRun(session);
  const facts: Fact[] = [];
  const nodes: ConversationNode[] = [];
  // As it would have gone: calls end before their run, and a child before the call that waits for it.
  for (const { fact, lastRunSeq, hasEnded = false } of session.runs.toReversed()) {
    let run_seq = lastRunSeq;
    for (const call of callsOf.get(fact.run_id) ?? []) {
      const result = lostResult(call);
      const node = createResultNode(call.requested, result);
      if (node !== undefined) nodes.push(node);
      add(call.requested, createTerminal(call, result, node));
    }
    const { tool_call_id: _id, tool_name: _name, ...ofRun } = fact;
    if (!hasEnded) add(ofRun, RUN_LOST);

    function add(of: Fact, said: Said): void {
      const seq = lastSeq + facts.length + 1;
      run_seq += 1;
      const { prev_hash: _hash, nodes: _nodes, ...whose } = of;
      facts.push({ ...whose, id: `f${seq}`, seq, run_seq, time, ...said });
    }
  }
  return facts.length === 0 ? undefined : { facts, nodes };
}

type Said = FactContent<"run.failed" | TerminalFactType>;

const RUN_LOST: Said = {
  type: "run.failed",
  level: "error",
  data: {
    reason: RUNTIME_RESTARTED,
    message: "The runtime was stopped before this run had ended.",
  },
};

/** Throws on a call of a run that is not listed: the journal was read wrongly. */
function callsByRun({ calls, runs }: LostSession): Map<string | undefined, LostCall[]> {
  const byRun = new Map<string | undefined, LostCall[]>(runs.map(({ fact }) => [fact.run_id, []]));
  for (const call of calls) {
    const { run_id, tool_call_id } = call.requested;
    const ofRun = byRun.get(run_id);
    if (ofRun === undefined) {
      throw new Error(`the lost call ${tool_call_id} is of run ${run_id}, which is not listed`);
    }
    ofRun.push(call);
  }
  return byRun;
}

function createTerminal(
  { started }: LostCall,
  result: ToolResult,
  node: ConversationNode | undefined,
): Said {
  const decision_ref = started?.data.decision_ref;
  const data = { result, ...omitUndefined({ node_id: node?.node_id, decision_ref }) };
  return { type: terminalFactType(result.status), level: "warn", data };
}

function lostResult({ requested, started, artifacts }: LostCall): ToolResult {
  const { tool_call_id = "", tool_name = "", data } = requested;
  const { native_call_id, native_name, alias } = data;
  const name = tool_name === "" ? "The tool" : tool_name;
  const error = started === undefined ? notStarted(name) : notEnded(name, started);
  const kept = artifacts.length === 0 ? "" : " What it had kept by then is attached.";
  const refs = artifacts.map(artifactRef);
  return {
    tool_call_id,
    tool_name,
    status: started === undefined ? "skipped" : "unknown",
    is_error: true,
    content: [{ type: "text", text: error.message + kept }, ...refs.map(artifactBlock)],
    summary: error.message,
    artifacts: refs,
    error,
    // How long it took, and whose the tool was, is no longer known.
    metadata: {
      duration_ms: 0,
      provenance: NO_PROVENANCE,
      ...omitUndefined({ native_call_id, native_name, alias }),
    },
  };
}

function notStarted(name: string): ToolError {
  const message = `${name} was not started: the runtime was stopped before its turn. Nothing happened.`;
  return callError(RUNTIME_RESTARTED, message, {
    error_class: "canceled",
    retryable: true,
    recovery: "retry",
  });
}

function notEnded(name: string, started: Fact<"tool.started">): ToolError {
  const isRead = onlyReads(started);
  const advice = isRead
    ? "Its result is lost; it only reads, so it can be called again."
    : "It may or may not have happened: find out before doing it again.";
  const message = `The runtime was stopped while ${name} was running. ${advice}`;
  const recovery = isRead ? "retry" : "ask_the_user";
  return callError(RUNTIME_RESTARTED, message, { retryable: isRead, recovery });
}

/** What does not say so may have changed something. Earlier records say only what it does outside. */
function onlyReads({ data: { effects, class: kind } }: Fact<"tool.started">): boolean {
  const startsAgent = kind !== undefined && readCallClass(kind) === "spawns_agent";
  return effects?.repeatable ?? (effects?.read_only === true && !startsAgent);
}

/** Where its result was to hang, as `tool.requested` says. */
function createResultNode(
  { session_id, run_id, agent_id, tool_call_id, data }: Fact<"tool.requested">,
  result: ToolResult,
): ConversationNode | undefined {
  const { node_id, parent_node_id } = data;
  if (node_id === undefined || run_id === undefined || agent_id === undefined) return undefined;
  return omitUndefined({
    node_id,
    parent_id: parent_node_id,
    session_id,
    run_id,
    agent_id,
    kind: "tool_result" as const,
    tool_call_id,
    content: result.content,
    is_error: true,
  });
}
