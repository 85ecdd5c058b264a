// The loop's front door: a conversation takes prompts, and each becomes a run of its own on the path the ones before it
// have left.

import {
  randomIds,
  systemClock,
  type Clock,
  type ContentBlock,
  type ConversationNode,
  type IdSource,
  type RunOptions,
  type Session,
} from "@soong/core";
import { readLoadedTools } from "../context/index.ts";
import type { StartRecall } from "../memory/index.ts";
import type { Model } from "../model/index.ts";
import { beginRun, type LoopRun } from "./begin-run.ts";
import { createInstructionCache, type InstructionSource } from "./instruction-cache.ts";
import { fillContextTokens, loopLimits, type LoopLimits } from "./limits.ts";
import type { AnswerCheck, ConversationState, RunBoard } from "./running.ts";
import type { RunRegistry } from "./active-run.ts";
import type { ToolProvider } from "./tool-provider.ts";
import type { UsageTotal } from "./usage.ts";

export interface LoopOptions {
  readonly session: Session;
  /** The first is used; the rest are the fallback chain (MODEL-4). */
  readonly models: readonly [Model, ...Model[]];
  /** Role, mode, policy, roots, parent and so on, for every run. */
  readonly run?: RunOptions;
  /** Static text; it describes and grants nothing (CTX-4). */
  readonly system?: readonly string[];
  /** Instruction files to begin with, below that text (INSTR-2): `instructionFiles(…)` of `@soong/tools`. */
  readonly instructions?: InstructionSource;
  /** What is remembered and fits the prompt, added to it (MEM-4): `startRecall(…)`. */
  readonly recall?: StartRecall;
  /** Provides tools that may be late or change: awaited before a run and each of its turns (MCP-3). */
  readonly toolProvider?: ToolProvider;
  /** Each run is added as it begins and removed as it ends. */
  readonly runRegistry?: RunRegistry;
  /** The current state, shown with each request beside the conversation. */
  readonly board?: RunBoard;
  /** Asked once a run, when the model is done. */
  readonly checkAnswer?: AnswerCheck;
  /** For runs another run has started: whose it is to pay, and where in the journal theirs begins. */
  readonly started_by?: { readonly account: UsageTotal; readonly lastSeq: number };
  /** The conversation so far, root first: `readHistory(reader, agent_id)` of a stored session. */
  readonly history?: readonly ConversationNode[];
  /** Those of `history` that are not on record, as `readHistory` found them. */
  readonly unrecorded?: readonly ConversationNode[];
  readonly agent_definition_id?: string;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly limits?: Partial<LoopLimits>;
}

export interface Conversation {
  readonly agent_id: string;
  /** One root run of a session at a time: later ones queue, with a `queued` event. */
  send(prompt: string | readonly ContentBlock[]): LoopRun;
  /** A run without a prompt: the model is asked again where the last one was cut off (STORE-5). */
  resume(): LoopRun;
  /** Aborts what is under way or queued, and waits for its end. The session stays open. */
  close(): Promise<void>;
}

export async function openConversation(options: LoopOptions): Promise<Conversation> {
  const { session, models, history = [] } = options;
  const ids = options.ids ?? randomIds();
  const agent_id = options.run?.agent_id ?? history.at(-1)?.agent_id ?? ids.next("agent");
  const askedLimits = loopLimits(options.limits);
  const state: ConversationState = {
    session,
    models,
    ids,
    system: options.system ?? [],
    agent_definition_id: options.agent_definition_id,
    clock: options.clock ?? systemClock(),
    limits: fillContextTokens(askedLimits, models),
    askedLimits,
    path: [...history],
    unrecorded: [...(options.unrecorded ?? [])],
    instructions: createInstructionCache(options.instructions, history),
    recall: options.recall,
    toolProvider: options.toolProvider,
    runRegistry: options.runRegistry,
    board: options.board,
    checkAnswer: options.checkAnswer,
    started_by: options.started_by,
    loadedTools: new Set([...readLoadedTools(history), ...(options.run?.loadedTools ?? [])]),
  };
  const open = new Set<LoopRun>();
  let closed = false;
  let givenRunId = options.run?.run_id;

  return {
    agent_id,
    send: begin,
    resume: () => begin(undefined),
    async close() {
      closed = true;
      await Promise.all([...open].map((one) => one.abort("the conversation was closed")));
    },
  };

  function begin(prompt: string | readonly ContentBlock[] | undefined): LoopRun {
    // A given id is one run's.
    const run_id = givenRunId ?? ids.next("run");
    givenRunId = undefined;
    const begun = beginRun(state, { ...options.run, run_id, agent_id }, prompt, closed);
    open.add(begun);
    void begun.end.then(() => open.delete(begun));
    return begun;
  }
}
