// What the parts of one run's loop share: the kernel's run, the conversation it adds to, and its figures.

import type {
  Clock,
  ConversationNode,
  Fact,
  FactData,
  FactLevel,
  FactType,
  IdSource,
  Run,
  Session,
} from "@soong/core";
import type { Model } from "../model/index.ts";
import type { NodePlace } from "../context/index.ts";
import type { EventLog } from "./event-log.ts";
import type { InstructionDesk } from "./instruction-desk.ts";
import type { LoopLimits } from "./limits.ts";
import type { RunControl } from "./run-control.ts";
import type { UsageTotal } from "./usage.ts";

/** Lasts from run to run. */
export interface ConversationState {
  readonly session: Session;
  readonly models: readonly [Model, ...Model[]];
  readonly system: readonly string[];
  readonly agent_definition_id: string | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly limits: LoopLimits;
  /** Root first. */
  readonly path: ConversationNode[];
  /** On the path and not on record: what a crash took from the history (STORE-3). The next run records it. */
  readonly unrecorded: ConversationNode[];
  readonly instructions: InstructionDesk;
  /** Found and loaded so far; the next run begins with them. */
  readonly loadedTools: Set<string>;
}

export interface Running extends ConversationState {
  readonly run: Run;
  /** What was deferred at some time: loaded later, it was found by a search. */
  readonly seenDeferred: Set<string>;
  readonly control: RunControl;
  readonly log: EventLog;
  readonly usage: UsageTotal;
  /** On the path, and on record with the next fact. */
  readonly pending: ConversationNode[];
  /** Model requests so far. */
  requests: number;
  /** Which model of the chain answers. */
  chosen: number;
  answer: string;
  compactionFailed: boolean;
}

/** Adds a node to the conversation; it is committed with the next fact. */
export function addNode(running: Running, node: ConversationNode): void {
  running.path.push(node);
  running.pending.push(node);
}

export function placeOf(running: Running, node_id = running.ids.next("node")): NodePlace {
  const { session_id, run_id, agent_id } = running.run.identity;
  return { node_id, parent_id: running.path.at(-1)?.node_id, session_id, run_id, agent_id };
}

/** One fact, clean already, with the nodes that wait for one. */
export function record(
  running: Running,
  type: FactType,
  data: FactData,
  level: FactLevel = "info",
): Fact {
  const { recorder } = running.run;
  const fact = recorder.draft(type, data, undefined, level);
  recorder.commit([fact], running.pending.splice(0));
  return fact;
}
