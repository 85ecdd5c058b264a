// Facts as records of Agent Tool 0.2.0: all mappers together, and the types of facts that have no record.

import type { Fact } from "@soong/core";
import { isRecord } from "@soong/schema";
import type { Projection, Unmapped } from "../projection/projection.ts";
import { CALL_RECORDS } from "./call-records.ts";
import { ExportState } from "./export-state.ts";
import { HOOK_RECORDS } from "./hook-records.ts";
import { PERMISSION_RECORDS } from "./permission-records.ts";
import { readRecord, type UncheckedRecord } from "../projection/read-fields.ts";
import type { AgentToolRecord } from "./records.ts";
import { endOpenCalls, RESULT_RECORDS } from "./result-records.ts";
import { RUN_RECORDS } from "./run-records.ts";

export interface AgentToolOptions {
  /**
   * `omit`: without arguments, results, and texts about them; their persistence is then `never_persist`. Default: `include`,
   * as the journal has them, which is redacted.
   */
  readonly content?: "include" | "omit";
}

/**
 * Records of Agent Tool 0.2.0 from the facts of a session. Each call is an invocation with one result; its id is
 * `<run_id>/<tool_call_id>`. A damaged fact gives fewer fields, or no record.
 */
export function createAgentToolProjection({
  content = "include",
}: AgentToolOptions = {}): Projection<AgentToolRecord> {
  const state = new ExportState(content === "include");
  return {
    push(fact) {
      const given: unknown = fact;
      if (!isRecord(given)) return [];
      const mapFact = MAPPERS.get(fact.type);
      if (mapFact === undefined) return [];
      state.writer.begin(fact);
      mapFact(readRecord(fact.data), state, fact);
      return state.writer.take();
    },
    end() {
      endOpenCalls(state);
      return state.writer.take();
    },
  };
}

const RECORDS = {
  ...RUN_RECORDS,
  ...CALL_RECORDS,
  ...PERMISSION_RECORDS,
  ...HOOK_RECORDS,
  ...RESULT_RECORDS,
};

const OF_A_TASK = "Agent Tool is about tool calls; tasks belong to Agent Runtime.";
const OF_A_MODEL = "Agent Tool is about tool calls; model requests belong to Agent Runtime.";
const OF_CONTEXT = "Agent Tool is about tool calls; the conversation belongs to Agent Runtime.";
const OF_A_CHILD =
  "The call that started the child has its records; child runs have their own calls.";
const OF_MEMORY = "Memory belongs to its own system.";
const OF_A_SERVER = "Its tools are in the catalogs of the runs.";

/** Why these facts have no record. */
export const AGENT_TOOL_UNMAPPED: Unmapped<keyof typeof RECORDS> = {
  "session.created": "Its id is in every record that follows.",
  "run.queued": "A run that waits has no tools yet.",
  "tool.late": "The result of the call was final before.",
  "turn.halted": "Each call that it ends has its own result.",
  "grant.created": "A grant is the state of a policy; decisions that use it name it.",
  "grant.revoked": "A grant is the state of a policy.",
  "change.undone": "It is no tool call.",
  "context.rewound": OF_CONTEXT,
  error: "The error of a call is in its result; others are of no call.",
  "context.resolved": OF_CONTEXT,
  "context.compaction.started": OF_CONTEXT,
  "context.compaction.completed": OF_CONTEXT,
  "context.compaction.failed": OF_CONTEXT,
  "routing.decided": OF_A_MODEL,
  "routing.fallback": OF_A_MODEL,
  "model.started": OF_A_MODEL,
  "model.delta": OF_A_MODEL,
  "model.completed": OF_A_MODEL,
  "model.failed": OF_A_MODEL,
  "agent.child.created": OF_A_CHILD,
  "agent.child.completed": OF_A_CHILD,
  "agent.child.failed": OF_A_CHILD,
  "agent.child.cancelled": OF_A_CHILD,
  "worker.dispatched": OF_A_CHILD,
  "skill.loaded": "The tools of a skill are in the catalogs of the runs.",
  "memory.candidate": OF_MEMORY,
  "memory.recalled": OF_MEMORY,
  "memory.recall.started": OF_MEMORY,
  "memory.recall.skipped": OF_MEMORY,
  "memory.written": OF_MEMORY,
  "mcp.server.connected": OF_A_SERVER,
  "mcp.server.failed": OF_A_SERVER,
  "mcp.server.tools_changed": OF_A_SERVER,
  "mcp.server.host_refused": "It is of the server, not of a call.",
  "mcp.server.host_request": "The standard has no record for requests of a server to its host.",
  "mcp.server.elicitation": "It is recorded with its answer, when the call no longer waits.",
  "task.created": OF_A_TASK,
  "task.started": OF_A_TASK,
  "task.updated": OF_A_TASK,
  "task.blocked": OF_A_TASK,
  "task.unblocked": OF_A_TASK,
  "task.completed": OF_A_TASK,
  "task.failed": OF_A_TASK,
  "task.cancelled": OF_A_TASK,
  "task.step.claimed": OF_A_TASK,
  "task.step.dispatched": OF_A_TASK,
  "task.step.started": OF_A_TASK,
  "task.step.completed": OF_A_TASK,
  "task.step.failed": OF_A_TASK,
  "task.step.blocked": OF_A_TASK,
  "task.step.cancelled": OF_A_TASK,
  "task.step.unblocked": OF_A_TASK,
  "task.step.retried": OF_A_TASK,
  "task.step.released": OF_A_TASK,
  "task.step.lease_lost": OF_A_TASK,
  "task.step.not_released": OF_A_TASK,
};

type AnyMapper = (data: UncheckedRecord, state: ExportState, fact: Fact) => void;

const MAPPERS: ReadonlyMap<string, AnyMapper> = new Map<string, AnyMapper>(Object.entries(RECORDS));
