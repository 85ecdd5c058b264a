// One run of the loop (LOOP-1): build context, stream, execute, repeat, until one of its ends. Never throws; what goes
// wrong is an end, and a journal that fails ends everything at once.

import {
  JournalFailure,
  messageOf,
  type ContentBlock,
  type ModelTools,
  type Turn,
} from "@soong/core";
import { messageText, userNode } from "../context/index.ts";
import { compactContext } from "./compact-context.ts";
import {
  addHookContext,
  loadInstructions,
  recallMemories,
  submitPrompt,
  toStoppedEnding,
} from "./prepare-run.ts";
import { createBackoff, requestModel, type Backoff } from "./request-model.ts";
import { resolveContext } from "./resolve-context.ts";
import { endWith, type Ending } from "./run-events.ts";
import { addNode, awaitTools, nextNodePlace, recordFact, type Running } from "./running.ts";
import type { Attempt } from "./stream-answer.ts";

/** What a run is for: a prompt, to continue where the path ends, or only to sum the path up. */
export type LoopWork = readonly ContentBlock[] | "continue" | "compact";

export async function runLoop(running: Running, work: LoopWork): Promise<Ending> {
  try {
    recordRecoveredAnswer(running);
    if (work === "compact") return await compactOnly(running);
    await loadInstructions(running);
    if (work !== "continue") {
      const blocked = await submitPrompt(running, work);
      if (blocked !== undefined) {
        return endWith("failed", "prompt_blocked", `The prompt was blocked by a hook: ${blocked}`);
      }
      const stopped = await recallMemories(running, work);
      if (stopped !== undefined) return stopped;
    }
    return await runTurns(running, createBackoff(running.run.identity.run_id));
  } catch (error) {
    return endFailed(running, error);
  } finally {
    running.control.turn = undefined;
    running.control.forgetTimer();
  }
}

async function compactOnly(running: Running): Promise<Ending> {
  const compacted = await compactContext(running, "requested");
  switch (compacted) {
    case "compacted":
      return { reason: "completed" };
    case "aborted":
      return endAborted(running);
    case "nothing_to_compact":
      return endWith("failed", compacted, "The conversation is too short to be summed up.");
    case "failed": {
      const message = "The conversation could not be summed up, and is as it was.";
      return endWith("failed", "compaction_failed", message);
    }
  }
}

/** An answer that a crash cut off is recorded, and its agent continues below its results. */
function recordRecoveredAnswer(running: Running): void {
  const { pending, book, run } = running;
  const node_id = book.path.at(-1)?.node_id;
  if (pending.length === 0 || node_id === undefined) return;
  const reason = "an answer that the runtime was stopped in was put together again";
  recordFact(running, "context.rewound", { agent_id: run.identity.agent_id, node_id, reason });
}

async function runTurns(running: Running, backoff: Backoff): Promise<Ending> {
  const { run, control, limits } = running;
  let compactedForLength = false;
  let shown: ModelTools | undefined;
  for (;;) {
    for (const input of control.takeInput()) {
      const blocked = await submitPrompt(running, input);
      running.log.add({ type: "input", text: messageText(input), blocked });
    }
    if (running.requests >= limits.max_turns) {
      const message = `The run made ${limits.max_turns} model requests, its limit. Raise max_turns, or send another prompt to continue.`;
      return endWith("max_turns", "max_turns", message);
    }
    if (running.toolProvider !== undefined) await awaitTools(running.toolProvider, control);
    const tools = await run.tools();
    if (tools !== shown) rememberLoadedTools(running);
    shown = tools;
    const context = await resolveContext(running, tools);
    if (context === "aborted" || control.aborted !== undefined) return endAborted(running);
    running.requests += 1;
    const outcome = await requestModel(running, { tools, backoff, context });
    if (outcome.kind === "aborted") return endAborted(running);
    if (outcome.kind === "failed") {
      const { error, wrote } = outcome;
      if (wrote) {
        const message = `${error.message} A call of this answer had already changed something, so it was not asked again.`;
        return endWith("failed", error.kind, message);
      }
      if (error.kind !== "prompt_too_long") return endWith("failed", error.kind, error.message);
      const isFirst = !compactedForLength;
      compactedForLength = true;
      const compacted = isFirst ? await compactContext(running, "prompt_too_long") : "failed";
      if (compacted === "aborted") return endAborted(running);
      if (compacted !== "compacted") return endWith("prompt_too_long", error.kind, error.message);
      continue;
    }
    compactedForLength = false;
    running.answer = outcome.text;
    const ending = await (outcome.calls === 0 || outcome.stop === "max_tokens"
      ? finishAnswer(running, outcome)
      : collectResults(running, outcome.turn));
    if (ending !== undefined) return ending;
  }
}

/** Waits for every result (PIPE-4); undefined: the results are on the path and the model reads them next. */
async function collectResults(running: Running, turn: Turn): Promise<Ending | undefined> {
  const { control, log, book } = running;
  for await (const result of turn.results()) log.add({ type: "result", result });
  book.add(...turn.nodes);
  control.turn = undefined;
  if (control.aborted !== undefined) {
    return endWith("aborted_tools", "aborted", `The run was aborted: ${control.aborted}`);
  }
  return toStoppedEnding(turn.stopped);
}

/** The model is done, or was cut off. Undefined: the run continues. */
async function finishAnswer(
  running: Running,
  { stop, turn }: Extract<Attempt, { kind: "answered" }>,
): Promise<Ending | undefined> {
  const { control, run, book } = running;
  if (stop === "max_tokens") {
    // Its calls so far are not executed: the model would not read their results.
    await turn.abort("the answer was cut off at the output limit");
    book.add(...turn.nodes);
    const message = "The model's answer was cut off at its output limit. Raise max_output_tokens.";
    return endWith("max_output_tokens", "max_output_tokens", message);
  }
  control.turn = undefined;
  if (stop === "refused") {
    return endWith("failed", "refused", "The model refused to answer. Change the prompt.");
  }
  const hooks = await control.unlessAborted(run.stopping());
  if (hooks === "aborted") return endAborted(running);
  if (hooks.continue) {
    const texts =
      hooks.context.length === 0 ? ["Continue: a hook says it is not done."] : hooks.context;
    for (const text of texts) addHookContext(running, text);
    return undefined;
  }
  if (needsCorrection(running)) return undefined;
  return control.close() ? { reason: "completed" } : undefined;
}

/** Once a run: `checkAnswer` says what is wrong with the answer, and the model reads that next (AGENT-4). */
function needsCorrection(running: Running): boolean {
  const { checkAnswer, answer, run } = running;
  if (checkAnswer === undefined || running.answerChecked) return false;
  running.answerChecked = true;
  const wanted = checkAnswer(answer);
  if (wanted === undefined) return false;
  const text = run.redactor.text(wanted);
  addNode(running, userNode(nextNodePlace(running), [{ type: "text", text }]));
  return true;
}

/** What was found and loaded since the run began stays known to the conversation. */
function rememberLoadedTools({ run, found, seenDeferred }: Running): void {
  for (const { name } of run.surface.deferred) seenDeferred.add(name);
  for (const { name } of run.surface.loaded) if (seenDeferred.has(name)) found.add(name);
}

function endAborted({ control }: Running): Ending {
  return endWith("aborted_streaming", "aborted", `The run was aborted: ${control.aborted ?? ""}`);
}

function endFailed(running: Running, error: unknown): Ending {
  const { run, control } = running;
  void control.turn?.abort("the run failed");
  const message = run.redactor.text(messageOf(error));
  if (error instanceof JournalFailure) return endWith("failed", "journal_unavailable", message);
  try {
    recordFact(running, "error", { code: "loop_failed", message }, "error");
  } catch {
    // The end of the run says the same.
  }
  return endWith("failed", "loop_failed", message);
}
