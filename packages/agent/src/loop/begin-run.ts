// One prompt on its way through a run: its place in the queue, the kernel's run, its end on record. Nothing here rejects
// or hangs, whatever the model, the tools or the journal do.

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
import { omitUndefined, within } from "@soong/core/internal";
import { conductRun } from "./conduct-run.ts";
import { createEventLog, type EventLog, type LoopEvent } from "./event-log.ts";
import { rootQueueOf } from "./root-queue.ts";
import { createRunControl, type RunControl } from "./run-control.ts";
import { ended, factOf, type Ending, type RunEnd } from "./run-end.ts";
import type { ConversationState, Running } from "./running.ts";
import { tellFacts } from "./tell-facts.ts";
import { awaitSupply } from "./tool-supply.ts";
import type { RunSeat } from "./run-seats.ts";
import { noUsage, type UsageTotal } from "./usage.ts";

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
      ? Promise.resolve(endOf(ended("failed", refused, given)))
      : inTurn(state, options, given, control, log);
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

/** A run another one has started is not a root: its parent waits for it, so it waits for nobody. */
async function inTurn(
  state: ConversationState,
  options: GivenRun,
  prompt: readonly ContentBlock[] | undefined,
  control: RunControl,
  log: EventLog,
): Promise<RunEnd> {
  const queue = options.parent === undefined ? rootQueueOf(state.session) : undefined;
  const ahead = queue?.length ?? 0;
  const place = queue?.enter();
  try {
    if (place === undefined) {
      return await started(state, options, prompt, control, log, state.started_by?.lastSeq ?? 0);
    }
    const queued = recordOutside(state, options, "run.queued", { ahead });
    if (ahead > 0) log.add({ type: "queued", ahead });
    if ((await control.unlessAborted(place.turn)) === "aborted") {
      const ending = abortedBefore(control);
      return recordNeverRun(state, options, endOf(ending));
    }
    return await started(state, options, prompt, control, log, queued.seq);
  } catch (error) {
    return endOf(ended("failed", "journal_unavailable", messageOf(error)));
  } finally {
    place?.leave();
  }
}

async function started(
  state: ConversationState,
  options: GivenRun,
  prompt: readonly ContentBlock[] | undefined,
  control: RunControl,
  log: EventLog,
  after: number,
): Promise<RunEnd> {
  const { session, models, loadedTools, supply } = state;
  await awaitSupply(supply, control);
  let run: Run;
  try {
    run = await session.startRun({
      profile: models[0].profile,
      ...(supply === undefined ? {} : { connecting: () => supply.connecting() }),
      ...options,
      loadedTools: [...loadedTools],
      admitContext: (node) => state.instructions.admit(node),
    });
  } catch (error) {
    const refused = endOf(refusal(error));
    // The call that was to start it has the refusal as its result; of a root nothing else would tell.
    return options.parent === undefined ? recordNeverRun(state, options, refused) : refused;
  }
  log.add({ type: "started", run_id: options.run_id });
  const running: Running = {
    ...state,
    run,
    control,
    log,
    usage: noUsage(),
    account: state.started_by?.account ?? noUsage(),
    lastSeq: after,
    answerChecked: false,
    pending: state.unrecorded.splice(0),
    seenDeferred: new Set(),
    requests: 0,
    chosen: 0,
    answer: "",
    compactionFailed: false,
  };
  const seat = seatOf(running, options);
  try {
    state.seats?.entered(seat);
    return await conducted(running, prompt, after);
  } finally {
    state.seats?.left(seat);
  }
}

async function conducted(
  running: Running,
  prompt: readonly ContentBlock[] | undefined,
  after: number,
): Promise<RunEnd> {
  const { session, run, control, log } = running;
  const watching = tellFacts(session, { run_id: run.identity.run_id, after }, log);
  const ending = await conductRun(running, prompt);
  const end = endOf(ending, running);
  control.close();
  try {
    run.end(factOf(end.reason), { ...endData(end), usage: { ...running.usage } });
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

function seatOf(running: Running, options: RunOptions): RunSeat {
  const { session, run, models, system, supply, agent_definition_id } = running;
  const { clock, ids, account, path, loadedTools } = running;
  return {
    session,
    run,
    options,
    models,
    system,
    limits: running.askedLimits,
    supply,
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

function refusal(error: unknown): Ending {
  const about = { code: "run_refused", message: messageOf(error) };
  const { problems } = error instanceof RunRefused ? error : {};
  return { reason: "failed", error: problems === undefined ? about : { ...about, problems } };
}

function endOf({ reason, error }: Ending, running?: Running): RunEnd {
  const unheard = running?.control.takeInput() ?? [];
  return {
    reason,
    answer: running?.answer ?? "",
    ...omitUndefined({ error }),
    usage: usageToTell(running),
    turns: running?.requests ?? 0,
    ...(unheard.length === 0 ? {} : { unheard }),
  };
}

/** A child's own: what others of its family used is told by them. */
function usageToTell(running: Running | undefined): UsageTotal {
  if (running === undefined) return noUsage();
  return { ...(running.started_by === undefined ? running.account : running.usage) };
}

function endData({ reason, error, usage, turns }: RunEnd): FactData {
  return { reason, ...omitUndefined({ error }), usage: { ...usage }, turns };
}

function abortedBefore({ aborted = "" }: RunControl): Ending {
  return ended("aborted_streaming", "aborted", `The run was aborted before it began: ${aborted}`);
}

/** Its words are the session's to redact, for there is no run that could; the run's own fact has its code. */
function recordNeverRun(state: ConversationState, options: GivenRun, end: RunEnd): RunEnd {
  const { code = "", message = "" } = end.error ?? {};
  const about = { code, message, of_run: options.run_id };
  state.session.recorder.record("error", about, undefined, "warn");
  recordOutside(state, options, `run.${factOf(end.reason)}`, {
    ...endData(end),
    error: { code },
  });
  return end;
}

/** A fact of a run that the kernel does not know yet, or will never. */
function recordOutside(
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
