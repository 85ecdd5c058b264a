// The loop's front door: a conversation takes prompts, and each becomes a run of its own on the path the ones before it
// have left.

import { randomIds, systemClock, type ContentBlock } from "@soong/core";
import { ContextBook, readLoadedTools } from "../context/index.ts";
import { beginRun, type LoopRun, type RunTask } from "./begin-run.ts";
import { InstructionCache } from "./instruction-cache.ts";
import { findContextTokens, loopLimits } from "./limits.ts";
import type { ConversationState, LoopOptions } from "./running.ts";

export interface Conversation {
  readonly agent_id: string;
  /** One root run of a session at a time: later ones queue, with a `queued` event. */
  send(prompt: string | readonly ContentBlock[]): LoopRun;
  /** A run without a prompt: the model is asked again where the last one was cut off (STORE-5). */
  resume(): LoopRun;
  /** A run that only sums up the older part of the conversation (CTX-2). Fails with `nothing_to_compact` where it is short. */
  compact(): LoopRun;
  /** Aborts what is under way or queued, and waits for its end. The session stays open. */
  close(): Promise<void>;
}

export async function openConversation(options: LoopOptions): Promise<Conversation> {
  const { history = [], run: given = {} } = options;
  const { run_id: firstRunId, agent_id: givenAgentId, ...rest } = given;
  const { ids = randomIds(), clock = systemClock(), system = [], unrecorded = [] } = options;
  const agent_id = givenAgentId ?? history.at(-1)?.agent_id ?? ids.next("agent");
  const limits = loopLimits(options.limits);
  const state: ConversationState = {
    session: options.session,
    models: options.models,
    system,
    recall: options.recall,
    toolProvider: options.toolProvider,
    runRegistry: options.runRegistry,
    board: options.board,
    checkAnswer: options.checkAnswer,
    onText: options.onText,
    started_by: options.started_by,
    agent_definition_id: options.agent_definition_id,
    clock,
    ids,
    limits,
    contextTokens: findContextTokens(limits, options.models),
    book: new ContextBook(history),
    unrecorded: [...unrecorded],
    instructions: new InstructionCache(options.instructions, history),
    found: new Set([...readLoadedTools(history), ...(given.loadedTools ?? [])]),
  };
  const open = new Set<LoopRun>();
  let isClosed = false;
  let givenRunId = firstRunId;

  return {
    agent_id,
    send: (prompt) => begin({ prompt }),
    resume: () => begin("continue"),
    compact: () => begin("compact"),
    async close() {
      isClosed = true;
      await Promise.all([...open].map((one) => one.abort("the conversation was closed")));
    },
  };

  function begin(task: RunTask): LoopRun {
    // A given id is one run's.
    const run_id = givenRunId ?? ids.next("run");
    givenRunId = undefined;
    const begun = beginRun(state, { run_id, agent_id, ...rest }, task, isClosed);
    open.add(begun);
    void begun.end.then(() => open.delete(begun));
    return begun;
  }
}
