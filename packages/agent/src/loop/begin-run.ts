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
import { omitUndefined } from "@soong/schema";
import { runLoop } from "./run-loop.ts";
import { createEventLog, type EventLog, type LoopEvent } from "./event-log.ts";
import { getRootQueue } from "./root-queue.ts";
import { createRunControl, type RunControl } from "./run-control.ts";
import { endWith, toEndFact, type Ending, type RunEnd } from "./run-end.ts";
import type { ConversationState, Running } from "./running.ts";
import { forwardFacts } from "./forward-facts.ts";
import { awaitTools } from "./tool-provider.ts";
import type { ActiveRun } from "./active-run.ts";
import { emptyUsage, type UsageTotal } from "./usage.ts";

export interface LoopRun {
  readonly run_id: Promise<string>;
  /** For a screen; the journal has it all. Read it late, slowly or never. */
  events(): AsyncIterable<LoopEvent>;
  /** Never rejects. */
  readonly end: Promise<RunEnd>;
  /** Settles when the run has ended, or after `limits.abort_wait_ms`. */
  abort(reason: string): Promise<void>;
  /** Joins the next request; calls that may be cancelled are (PIPE-7). False when the run takes no more. */
  interrupt(input: string): boolean;
}

export function beginRun(
  state: ConversationState,
  options: GivenRun,
  /** Undefined: the run continues where the path ends. */
  prompt: string | readonly ContentBlock[] | undefined,
  closed: boolean,
): LoopRun {
  const { clock, limits } = state;
  const { run_id } = options;
  const control = createRunControl(clock);
  const log = createEventLog();
  const given = closed
    ? "The conversation is closed. Open it again."
    : readPrompt(prompt, state.path.length === 0);
  const refused = closed ? "conversation_closed" : "invalid_prompt";
  const end =
    typeof given === "string"
      ? Promise.resolve(buildRunEnd(endWith("failed", refused, given)))
      : runInTurn(state, options, given, control, log);
  const told = end.then((how) => {
    log.add({ type: "end", end: how });
    return how;
  });
  return {
    run_id: Promise.resolve(run_id),
    events: () => log.read(),
    end: told,
    async abort(reason) {
      control.abort(reason);
      await within(clock, limits.abort_wait_ms, () => told);
    },
    interrupt: (input) => control.interrupt(input),
  };
}

type GivenRun = RunOptions & { readonly run_id: string };

/** A run another one has started is not a root: its parent waits for it, so it does not queue. */
async function runInTurn(
  state: ConversationState,
  options: GivenRun,
  prompt: readonly ContentBlock[] | undefined,
  control: RunControl,
  log: EventLog,
): Promise<RunEnd> {
  const queue = options.parent === undefined ? getRootQueue(state.session) : undefined;
  const ahead = queue?.length ?? 0;
  const place = queue?.enter();
  try {
    if (place === undefined) {
      return await startKernelRun(
        state,
        options,
        prompt,
        control,
        log,
        state.started_by?.lastSeq ?? 0,
      );
    }
    const queued = recordWithoutRun(state, options, "run.queued", { ahead });
    if (ahead > 0) log.add({ type: "queued", ahead });
    if ((await control.unlessAborted(place.turn)) === "aborted") {
      const ending = endAbortedEarly(control);
      return recordNeverRun(state, options, buildRunEnd(ending));
    }
    return await startKernelRun(state, options, prompt, control, log, queued.seq);
  } catch (error) {
    return buildRunEnd(endWith("failed", "journal_unavailable", messageOf(error)));
  } finally {
    place?.leave();
  }
}

async function startKernelRun(
  state: ConversationState,
  options: GivenRun,
  prompt: readonly ContentBlock[] | undefined,
  control: RunControl,
  log: EventLog,
  after: number,
): Promise<RunEnd> {
  const { session, models, loadedTools, toolProvider } = state;
  await awaitTools(toolProvider, control);
  let run: Run;
  try {
    run = await session.startRun({
      profile: models[0].profile,
      ...(toolProvider === undefined ? {} : { connecting: () => toolProvider.connecting() }),
      ...options,
      loadedTools: [...loadedTools],
      admitContext: (node) => state.instructions.admit(node),
    });
  } catch (error) {
    const refused = buildRunEnd(toRefusedEnding(error));
    // The call that was to start it has the refusal as its result; for a root this is the only record.
    return options.parent === undefined ? recordNeverRun(state, options, refused) : refused;
  }
  log.add({ type: "started", run_id: options.run_id });
  const running: Running = {
    ...state,
    run,
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
  };
  const active = createActiveRun(running, options);
  try {
    state.runRegistry?.add(active);
    return await runToEnd(running, prompt, after);
  } finally {
    state.runRegistry?.remove(active);
  }
}

async function runToEnd(
  running: Running,
  prompt: readonly ContentBlock[] | undefined,
  after: number,
): Promise<RunEnd> {
  const { session, run, control, log } = running;
  const watching = forwardFacts(session, { run_id: run.identity.run_id, after }, log);
  const ending = await runLoop(running, prompt);
  const end = buildRunEnd(ending, running);
  control.close();
  try {
    run.end(toEndFact(end.reason), { ...toEndData(end), usage: { ...running.usage } });
    await session.recorder.flush();
  } catch (error) {
    return {
      ...end,
      reason: "failed",
      error: { code: "journal_unavailable", message: messageOf(error) },
    };
  } finally {
    watching.stop();
  }
  return end;
}

function createActiveRun(running: Running, options: RunOptions): ActiveRun {
  const { session, run, models, system, toolProvider, agent_definition_id } = running;
  const { clock, ids, account, path, loadedTools } = running;
  return {
    session,
    run,
    options,
    models,
    system,
    limits: running.askedLimits,
    toolProvider,
    agent_definition_id,
    clock,
    ids,
    account,
    get lastSeq() {
      return running.lastSeq;
    },
    path: () => [...path],
    loadedTools: () => [...loadedTools],
  };
}

function toRefusedEnding(error: unknown): Ending {
  const about = { code: "run_refused", message: messageOf(error) };
  const { problems } = error instanceof RunRefused ? error : {};
  return { reason: "failed", error: problems === undefined ? about : { ...about, problems } };
}

function buildRunEnd({ reason, error }: Ending, running?: Running): RunEnd {
  const unheard = running?.control.takeInput() ?? [];
  return {
    reason,
    answer: running?.answer ?? "",
    ...omitUndefined({ error }),
    usage: selectReportedUsage(running),
    turns: running?.requests ?? 0,
    ...(unheard.length === 0 ? {} : { unheard }),
  };
}

/** A child reports its own usage only: its parent and siblings report theirs. */
function selectReportedUsage(running: Running | undefined): UsageTotal {
  if (running === undefined) return emptyUsage();
  return { ...(running.started_by === undefined ? running.account : running.usage) };
}

function toEndData({ reason, error, usage, turns }: RunEnd): FactData {
  return { reason, ...omitUndefined({ error }), usage: { ...usage }, turns };
}

function endAbortedEarly({ aborted = "" }: RunControl): Ending {
  return endWith("aborted_streaming", "aborted", `The run was aborted before it began: ${aborted}`);
}

/** Its words are the session's to redact, for there is no run that could; the run's own fact has its code. */
function recordNeverRun(state: ConversationState, options: GivenRun, end: RunEnd): RunEnd {
  const { code = "", message = "" } = end.error ?? {};
  const about = { code, message, of_run: options.run_id };
  state.session.recorder.record("error", about, undefined, "warn");
  recordWithoutRun(state, options, `run.${toEndFact(end.reason)}`, {
    ...toEndData(end),
    error: { code },
  });
  return end;
}

/** A fact of a run that the kernel does not know yet, or will never. */
function recordWithoutRun(
  { session }: ConversationState,
  { run_id, agent_id, parent }: GivenRun,
  type: FactType,
  data: FactData,
): Fact {
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

/** The prompt's blocks, or what is wrong with it. */
function readPrompt(
  prompt: string | readonly ContentBlock[] | undefined,
  isFirst: boolean,
): readonly ContentBlock[] | undefined | string {
  if (prompt === undefined) {
    return isFirst ? "There is nothing to continue: no prompt was sent yet." : undefined;
  }
  const blocks: unknown = typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
  if (!Array.isArray(blocks) || !blocks.every(isContentBlock)) {
    return "The prompt is neither text nor a list of content blocks.";
  }
  const isEmpty = blocks.every((block) => block.type === "text" && block.text.trim() === "");
  return isEmpty ? "The prompt is empty. Write what is to be done." : blocks;
}
