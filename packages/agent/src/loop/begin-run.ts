// One prompt on its way through a run: its place in the queue, the kernel's run, its end on record. Nothing here rejects
// or hangs, even when the model, the tools or the journal do.

import {
  isContentBlock,
  messageOf,
  RunRefused,
  type ContentBlock,
  type Fact,
  type FactData,
  type FactType,
  type Run,
  type RunOptions,
} from "@soong/core";
import { within } from "@soong/core/internal";
import { messageText } from "../context/index.ts";
import { EventLog, endWith, toEndFact } from "./run-events.ts";
import type { Ending, LoopEvent, RunEnd } from "./run-events.ts";
import { runLoop, type LoopWork } from "./run-loop.ts";
import {
  awaitTools,
  RunControl,
  type ConversationState,
  type QueuedInput,
  type Running,
} from "./running.ts";
import { emptyUsage, type UsageTotal } from "./usage.ts";

export interface LoopRun {
  readonly run_id: Promise<string>;
  /** For a screen; the journal has it all. Read it late, slowly or never. */
  events(): AsyncIterable<LoopEvent>;
  /** Never rejects. */
  readonly end: Promise<RunEnd>;
  /** Settles when the run has ended, or after `limits.abort_wait_ms`. */
  abort(reason: string): Promise<void>;
  /** Joins the next request and leaves all calls alone. Undefined when the run takes no more, or the input is empty. */
  queue(input: string | readonly ContentBlock[]): QueuedInput | undefined;
  /** The same, and calls that may be cancelled are, and those that wait are skipped (PIPE-7). False when the run takes no more. */
  interrupt(input: string): boolean;
}

/** `continue`: where the path ends. `compact`: only sum the path up. */
export type RunTask =
  | { readonly prompt: string | readonly ContentBlock[] }
  | "continue"
  | "compact";

export function beginRun(
  state: ConversationState,
  options: RunOptions & { readonly run_id: string },
  task: RunTask,
  isClosed: boolean,
): LoopRun {
  const { session, clock, limits, models, toolProvider } = state;
  const { run_id, agent_id, parent } = options;
  const control = new RunControl(clock);
  const log = new EventLog();
  const { lost } = session.journal;
  const abortWhenLost = (): void => control.abort(messageOf(lost?.reason));
  lost?.addEventListener("abort", abortWhenLost, { once: true });
  const end = runInTurn().then((how) => {
    lost?.removeEventListener("abort", abortWhenLost);
    log.add({ type: "end", end: how });
    return how;
  });
  return {
    run_id: Promise.resolve(run_id),
    events: () => log.read(),
    end,
    async abort(reason) {
      control.abort(reason);
      await within(clock, limits.abort_wait_ms, () => end);
    },
    queue(input) {
      if (findTaskProblem({ prompt: input }, false) !== undefined) return undefined;
      return control.queue(toBlocks(input));
    },
    interrupt: (input) => control.interrupt(input),
  };

  /** A run another one has started is not a root: its parent waits for it, so it does not queue. */
  async function runInTurn(): Promise<RunEnd> {
    const isFirst = state.book.path.length === 0;
    const problem = isClosed ? CLOSED : findTaskProblem(task, isFirst);
    if (problem !== undefined) {
      const code = isClosed ? "conversation_closed" : "invalid_prompt";
      return buildRunEnd(endWith("failed", code, problem));
    }
    const work = typeof task === "string" ? task : toBlocks(task.prompt);
    const place = parent === undefined ? enterQueue(session) : undefined;
    try {
      if (place === undefined) return await startRun(work, state.started_by?.lastSeq ?? 0);
      const { ahead, turn } = place;
      const { seq } = recordWithoutRun("run.queued", { ahead });
      if (ahead > 0) log.add({ type: "queued", ahead });
      if ((await control.unlessAborted(turn)) !== "aborted") return await startRun(work, seq);
      const message = `The run was aborted before it began: ${control.aborted ?? ""}`;
      return recordNeverRun(endWith("aborted_streaming", "aborted", message));
    } catch (error) {
      return buildRunEnd(endWith("failed", "journal_unavailable", messageOf(error)));
    } finally {
      place?.leave();
    }
  }

  async function startRun(work: LoopWork, after: number): Promise<RunEnd> {
    await awaitTools(toolProvider, control);
    let run: Run;
    try {
      run = await session.startRun({
        profile: models[0].profile,
        connecting: toolProvider && (() => toolProvider.connecting()),
        ...options,
        loadedTools: [...state.found],
        admitContext: (node) => state.instructions.admit(node),
      });
    } catch (error) {
      const problems = error instanceof RunRefused ? error.problems : undefined;
      const why = { code: "run_refused", message: messageOf(error) };
      const refused: Ending = { reason: "failed", error: problems ? { ...why, problems } : why };
      // The call that was to start it has the refusal as its result; for a root this is the only record.
      return parent === undefined ? recordNeverRun(refused) : buildRunEnd(refused);
    }
    log.add({ type: "started", run_id });
    // Field by field: after a spread no two of them have the same hidden class.
    const running: Running = {
      session,
      models,
      system: state.system,
      recall: state.recall,
      toolProvider,
      runRegistry: state.runRegistry,
      board: state.board,
      checkAnswer: state.checkAnswer,
      onText: state.onText,
      started_by: state.started_by,
      agent_definition_id: state.agent_definition_id,
      clock,
      ids: state.ids,
      limits,
      contextTokens: state.contextTokens,
      book: state.book,
      unrecorded: state.unrecorded,
      instructions: state.instructions,
      found: state.found,
      run,
      options,
      control,
      log,
      usage: emptyUsage(),
      account: state.started_by?.account ?? emptyUsage(),
      lastSeq: after,
      answerChecked: false,
      pending: state.unrecorded.splice(0),
      seenDeferred: new Set(),
      requests: 0,
      chosen: 0,
      answer: "",
      compactionFailed: false,
      path: () => [...state.book.path],
      loadedTools: () => [...state.found],
    };
    try {
      state.runRegistry?.add(running);
      return await runToEnd(running, work);
    } finally {
      state.runRegistry?.remove(running);
    }
  }

  async function runToEnd(running: Running, work: LoopWork): Promise<RunEnd> {
    const { run, usage } = running;
    const stopWatching = session.watch({ types: FORWARDED, run_id }, (fact) => log.addFact(fact));
    const ended = buildRunEnd(await runLoop(running, work), running);
    control.close();
    try {
      run.end(toEndFact(ended.reason), toEndData(ended, usage));
      await session.recorder.flush();
      return ended;
    } catch (error) {
      return { ...ended, ...endWith("failed", "journal_unavailable", messageOf(error)) };
    } finally {
      stopWatching();
    }
  }

  /** Its words are the session's to redact, for there is no run that could; the run's own fact has its code. */
  function recordNeverRun(ending: Ending): RunEnd {
    const never = buildRunEnd(ending);
    const { code = "", message = "" } = ending.error ?? {};
    session.recorder.record("error", { code, message, of_run: run_id }, undefined, "warn");
    recordWithoutRun(`run.${toEndFact(ending.reason)}`, {
      ...toEndData(never),
      error: { code },
    });
    return never;
  }

  /** A fact of a run that the kernel does not know yet, or will never. */
  function recordWithoutRun(type: FactType, data: FactData): Fact {
    const fact: Fact = session.recorder.draft(type, data);
    fact.run_id = run_id;
    if (agent_id !== undefined) fact.agent_id = agent_id;
    if (parent !== undefined) {
      fact.parent_run_id = parent.run_id;
      fact.parent_agent_id = parent.agent_id;
    }
    session.recorder.commit([fact]);
    return fact;
  }
}

const CLOSED = "The conversation is closed. Open it again.";

/** One root run of a session at a time, in the order they were requested (LOOP-2). */
const queues = new WeakMap<object, { length: number; last: Promise<void> }>();

function enterQueue(session: object) {
  const queue = queues.get(session) ?? { length: 0, last: Promise.resolve() };
  queues.set(session, queue);
  const { length: ahead, last: turn } = queue;
  let letNextIn = (): void => {};
  const left = new Promise<void>((resolve) => {
    letNextIn = resolve;
  });
  queue.last = turn.then(() => left);
  queue.length += 1;
  return {
    ahead,
    turn,
    leave(): void {
      queue.length -= 1;
      letNextIn();
    },
  };
}

/** What of the journal a screen wants to see as it happens: calls that start and say how far they are, and questions. */
const FORWARDED: ReadonlySet<FactType> = new Set<FactType>([
  "tool.started",
  "tool.progress",
  "permission.requested",
  "permission.resolved",
  "permission.failed",
]);

function buildRunEnd({ reason, error }: Ending, running?: Running): RunEnd {
  const unheard = (running?.control.takeInput() ?? []).map(messageText);
  // A child reports its own usage only: its parent and siblings report theirs.
  const usage = running?.started_by === undefined ? running?.account : running.usage;
  return {
    reason,
    answer: running?.answer ?? "",
    ...(error === undefined ? {} : { error }),
    usage: { ...(usage ?? emptyUsage()) },
    turns: running?.requests ?? 0,
    ...(unheard.length === 0 ? {} : { unheard }),
  };
}

/** `used`: by the run itself. */
function toEndData(
  { reason, error, usage, turns }: RunEnd,
  used: UsageTotal = usage,
): FactData<"run.completed"> {
  return { reason, error, usage: { ...used }, turns };
}

/** Why there is nothing to run, as a sentence. */
function findTaskProblem(task: RunTask, isFirst: boolean): string | undefined {
  if (typeof task === "string") {
    return isFirst ? "There is nothing to continue: no prompt was sent yet." : undefined;
  }
  const blocks: unknown = toBlocks(task.prompt);
  if (!Array.isArray(blocks) || !blocks.every(isContentBlock)) {
    return "The prompt is neither text nor a list of content blocks.";
  }
  const isEmpty = blocks.every((block) => block.type === "text" && block.text.trim() === "");
  return isEmpty ? "The prompt is empty. Write what is to be done." : undefined;
}

function toBlocks(prompt: string | readonly ContentBlock[]): readonly ContentBlock[] {
  return typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
}
