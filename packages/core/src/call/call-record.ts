// What stays of a call: one record, of which its facts and its node are made when they are read. Each field is set
// once, before the first fact that holds it; what is unusual about a call is recorded as a whole fact instead.

import {
  factId,
  type ConversationNode,
  type FactData,
  type FactRecord,
  type FactType,
  type TerminalFactType,
} from "../journal/index.ts";
import type { CallClass } from "../schedule/schedule.ts";
import type { Effects, InterruptBehavior, ToolResult } from "../tool/index.ts";
import type { RunIdentity } from "./host.ts";

export class CallRecord implements FactRecord {
  readonly tool_call_id: string;
  tool_name = "";
  requested: FactData<"tool.requested"> | undefined = undefined;
  effects: Effects | undefined = undefined;
  class: CallClass | undefined = undefined;
  /** The same object for every call that is judged so. */
  evaluated: FactData<"permission.evaluated"> | undefined = undefined;
  decision: string | undefined = undefined;
  decisionSeq: number | undefined = undefined;
  interruptBehavior: InterruptBehavior | undefined = undefined;
  result: ToolResult | undefined = undefined;
  ended: FactData<TerminalFactType>["ended"] = undefined;
  personView: string | undefined = undefined;
  cancelledBy: string | undefined = undefined;
  readonly #identity: RunIdentity;
  readonly #nodeId: string;
  readonly #parentNodeId: string | undefined;
  #nodes: readonly ConversationNode[] | undefined = undefined;

  constructor(
    tool_call_id: string,
    identity: RunIdentity,
    nodeId: string,
    parentNodeId: string | undefined,
  ) {
    this.tool_call_id = tool_call_id;
    this.#identity = identity;
    this.#nodeId = nodeId;
    this.#parentNodeId = parentNodeId;
  }

  factData(type: FactType): FactData {
    const make = DATA[type];
    if (make === undefined) throw new Error(`a call's record has no fact ${type}`);
    return make(this);
  }

  get nodes(): readonly ConversationNode[] {
    return (this.#nodes ??= [this.#resultNode()]);
  }

  /** Where the call leaves more, or something else, than its result. */
  set nodes(nodes: readonly ConversationNode[]) {
    this.#nodes = nodes;
  }

  #resultNode(): ConversationNode {
    const { session_id, run_id, agent_id } = this.#identity;
    const { content, is_error } = this.result as ToolResult;
    return {
      node_id: this.#nodeId,
      parent_id: this.#parentNodeId,
      session_id,
      run_id,
      agent_id,
      tool_call_id: this.tool_call_id,
      kind: "tool_result",
      content,
      is_error,
    };
  }

  terminalData(): FactData<TerminalFactType> {
    return {
      result: this.result as ToolResult,
      node_id: this.#nodeId,
      decision_ref: decisionRef(this),
      person_view: this.personView,
      ended: this.ended,
      cancelled_by: this.cancelledBy,
    };
  }
}

const terminalData = (record: CallRecord): FactData => record.terminalData();

const DATA: { readonly [T in FactType]?: (record: CallRecord) => FactData<T> | FactData } = {
  "tool.requested": ({ requested }) => requested as FactData,
  "tool.validated": ({ effects }) => ({ effects: effects as Effects }),
  "tool.queued": (record) => ({ class: record.class as CallClass }),
  "permission.evaluated": ({ evaluated }) => evaluated as FactData,
  "tool.started": (record): FactData<"tool.started"> => ({
    decision: record.decision,
    decision_ref: decisionRef(record),
    class: record.class,
    effects: record.effects,
    is_destructive: record.effects?.destructive,
    interrupt_behavior: record.interruptBehavior,
  }),
  "tool.completed": terminalData,
  "tool.failed": terminalData,
  "tool.denied": terminalData,
  "tool.skipped": terminalData,
  "tool.cancelled": terminalData,
  "tool.discarded": terminalData,
  "tool.yielded": ({ result }) => ({ status: result?.status }),
};

/** The id of the fact that decided. */
export function decisionRef({
  decisionSeq,
}: {
  readonly decisionSeq: number | undefined;
}): string | undefined {
  return decisionSeq === undefined ? undefined : factId(decisionSeq);
}
