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
import type { StartRecall } from "../memory/index.ts";
import type { Cost, Model, ModelUsage } from "../model/index.ts";
import type { NodePlace } from "../context/index.ts";
import type { EventLog } from "./event-log.ts";
import type { InstructionCache } from "./instruction-cache.ts";
import type { LoopLimits } from "./limits.ts";
import type { RunControl } from "./run-control.ts";
import type { RunRegistry } from "./active-run.ts";
import type { ToolProvider } from "./tool-provider.ts";
import { addUsage, type UsageTotal } from "./usage.ts";

/** The current state to show with each request. Undefined: there is nothing to show. */
export type RunBoard = (run: Run) => Promise<string | undefined>;

/** What the model has to fix in its last answer; undefined when the answer is accepted. */
export type AnswerCheck = (answer: string) => string | undefined;

/** Lasts from run to run. */
export interface ConversationState {
  readonly session: Session;
  readonly models: readonly [Model, ...Model[]];
  readonly system: readonly string[];
  readonly agent_definition_id: string | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly limits: LoopLimits;
  /** As requested, before defaults of the models were filled in. */
  readonly askedLimits: LoopLimits;
  /** Root first. */
  readonly path: ConversationNode[];
  /** On the path and not on record: what a crash took from the history (STORE-3). The next run records it. */
  readonly unrecorded: ConversationNode[];
  readonly instructions: InstructionCache;
  readonly recall: StartRecall | undefined;
  readonly toolProvider: ToolProvider | undefined;
  readonly runRegistry: RunRegistry | undefined;
  readonly board: RunBoard | undefined;
  readonly checkAnswer: AnswerCheck | undefined;
  readonly started_by: { readonly account: UsageTotal; readonly lastSeq: number } | undefined;
  /** Found and loaded so far; the next run begins with them. */
  readonly loadedTools: Set<string>;
}

export interface Running extends ConversationState {
  readonly run: Run;
  /** What was deferred at some time: loaded later, it was found by a search. */
  readonly seenDeferred: Set<string>;
  readonly control: RunControl;
  readonly log: EventLog;
  /** Of this run alone. */
  readonly usage: UsageTotal;
  /** With the runs it started, and where it was started itself, with those of its parent (MODEL-4, EVENT-7). */
  readonly account: UsageTotal;
  lastSeq: number;
  answerChecked: boolean;
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

export function nextNodePlace(running: Running, node_id = running.ids.next("node")): NodePlace {
  const { session_id, run_id, agent_id } = running.run.identity;
  return { node_id, parent_id: running.path.at(-1)?.node_id, session_id, run_id, agent_id };
}

/** One fact, clean already, with the nodes that wait for one. */
export function recordFact<T extends FactType>(
  running: Running,
  type: T,
  data: FactData<T>,
  level: FactLevel = "info",
): Fact<T> {
  const { recorder } = running.run;
  const fact = recorder.draft(type, data, undefined, level);
  recorder.commit([fact as Fact], running.pending.splice(0));
  running.lastSeq = fact.seq;
  return fact;
}

/** Of one model request, for the run and for the account it is charged to. */
export function addSpending(
  { usage, account }: Running,
  used: ModelUsage | undefined,
  cost: Cost | null,
): void {
  addUsage(usage, used, cost);
  addUsage(account, used, cost);
}
