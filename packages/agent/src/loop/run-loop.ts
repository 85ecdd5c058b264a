// One run of the loop (LOOP-1): build context, stream, execute, repeat, until one of its ends. Never throws; what goes
// wrong is an end, and a journal that fails ends everything at once.

import {
  JournalFailure,
  messageOf,
  type ContentBlock,
  type ModelTools,
  type Turn,
} from "@soong/core";
import { omitUndefined } from "@soong/schema";
import { hookNode, messageText, userNode } from "../context/index.ts";
import type { Model, ModelRequest } from "../model/index.ts";
import { createBackoff, type Backoff } from "./backoff.ts";
import { callAtStart, type CallAtStart } from "./call-at-start.ts";
import { compactContext } from "./compact-context.ts";
import { loadInstructions } from "./load-instructions.ts";
import { requestModel } from "./request-model.ts";
import { resolveContext, type ResolvedContext } from "./resolve-context.ts";
import { endWith, type Ending } from "./run-end.ts";
import { addNode, nextNodePlace, recordFact, type Running } from "./running.ts";
import type { Attempt } from "./stream-answer.ts";
import { awaitTools } from "./tool-provider.ts";

export async function runLoop(
  running: Running,
  prompt: readonly ContentBlock[] | undefined,
): Promise<Ending> {
  try {
    recordRecoveredAnswer(running);
    await loadInstructions(running);
    const blocked = prompt === undefined ? undefined : await submitPrompt(running, prompt);
    if (blocked !== undefined) {
      recordFact(running, "error", { code: "prompt_blocked", message: blocked }, "warn");
      return endWith("failed", "prompt_blocked", `The prompt was blocked by a hook: ${blocked}`);
    }
    const stopped = prompt === undefined ? undefined : await recallMemories(running, prompt);
    return stopped ?? (await runTurns(running, createBackoff(running.run.identity.run_id)));
  } catch (error) {
    return endFailed(running, error);
  } finally {
    running.control.turn = undefined;
  }
}

/** A memory that cannot be read costs the run nothing but itself. An ending: a hook has stopped the run there. */
async function recallMemories(
  running: Running,
  prompt: readonly ContentBlock[],
): Promise<Ending | undefined> {
  const { recall, run, control, path } = running;
  if (recall === undefined) return undefined;
  let stopped: Ending | undefined;
  const asked = run.redactor.text(messageText(prompt));
  const recalling = recall(asked, path, {
    places: run.places,
    async call(name, input) {
      const called = await callAtStart(running, name, input);
      stopped = toStoppedEnding(called);
      return called.result;
    },
  }).catch((error: unknown) => {
    const message = run.redactor.text(`Memories could not be read: ${messageOf(error)}`);
    recordFact(running, "error", { code: "memory_unreadable", message }, "warn");
  });
  const recalled = await control.unlessAborted(recalling);
  // A call that was under way has its end on record before the run has.
  if (recalled === "aborted") await control.turn?.settled();
  if (recalled === undefined || recalled === "aborted") return stopped;
  const { kind, text, data } = recalled.node;
  const { parent_id, ...place } = nextNodePlace(running);
  const content = [{ type: "text" as const, text: run.redactor.text(text) }];
  const node = { kind, content, ...omitUndefined({ data }) };
  addNode(running, { ...place, ...omitUndefined({ parent_id }), ...node });
  recordFact(running, "memory.recalled", recalled.about);
  return stopped;
}

/** An answer that a crash cut off is recorded, and its agent continues below its results. */
function recordRecoveredAnswer(running: Running): void {
  const { pending, path, run } = running;
  const node_id = path.at(-1)?.node_id;
  if (pending.length === 0 || node_id === undefined) return;
  const reason = "an answer that the runtime was stopped in was put together again";
  recordFact(running, "context.rewound", { agent_id: run.identity.agent_id, node_id, reason });
}

async function runTurns(running: Running, backoff: Backoff): Promise<Ending> {
  const { run, control, limits } = running;
  let compactedForLength = false;
  for (;;) {
    for (const input of control.takeInput()) await addInput(running, input);
    if (running.requests >= limits.max_turns) {
      const message = `The run made ${limits.max_turns} model requests, its limit. Raise max_turns, or send another prompt to continue.`;
      return endWith("max_turns", "max_turns", message);
    }
    await awaitTools(running.toolProvider, control);
    const tools = await run.tools();
    rememberLoadedTools(running);
    const context = await resolveContext(running, tools);
    if (context === "aborted" || control.aborted !== undefined) return endAborted(running);
    running.requests += 1;
    const outcome = await requestModel(running, {
      tools,
      backoff,
      estimatedTokens: context.estimatedTokens,
      request: (model) => buildRequest(running, model, tools, context),
    });
    if (outcome.kind === "aborted") return endAborted(running);
    if (outcome.kind === "failed") {
      const { error, wrote } = outcome;
      if (error.kind !== "prompt_too_long" || wrote) return endFailedByModel(outcome);
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
  const { control, log, path } = running;
  for await (const result of turn.results()) log.add({ type: "result", result });
  path.push(...turn.nodes);
  control.turn = undefined;
  if (control.aborted !== undefined) {
    return endWith("aborted_tools", "aborted", `The run was aborted: ${control.aborted}`);
  }
  return toStoppedEnding(turn);
}

function toStoppedEnding({ stopped }: Pick<Turn, "stopped"> | CallAtStart): Ending | undefined {
  if (stopped === undefined) return undefined;
  const { hook, reason } = stopped;
  return endWith("aborted_tools", "stopped_by_hook", `The hook ${hook} ended the run: ${reason}`);
}

/** The model is done, or was cut off. Undefined: the run continues. */
async function finishAnswer(
  running: Running,
  { stop, turn }: Extract<Attempt, { kind: "answered" }>,
): Promise<Ending | undefined> {
  const { control, run, path } = running;
  if (stop === "max_tokens") {
    // Its calls so far are not executed: the model would not read their results.
    await turn.abort("the answer was cut off at the output limit");
    path.push(...turn.nodes);
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

/** What the user says passes the hooks first (HOOK-6). Returns the reason when one of them blocks it. */
async function submitPrompt(
  running: Running,
  content: readonly ContentBlock[],
): Promise<string | undefined> {
  const { run, control } = running;
  const heard = await control.unlessAborted(run.submitPrompt(messageText(content)));
  if (heard !== "aborted" && heard.blocked !== undefined) return run.redactor.text(heard.blocked);
  // Redacted once, here: the model, the record and a resumed run read the same (REDACT-1).
  addNode(running, userNode(nextNodePlace(running), content.map(redactBlock)));
  if (heard !== "aborted") for (const text of heard.context) addHookContext(running, text);
  return undefined;

  /** The bytes of an image are no text, and a find in them would only break it. */
  function redactBlock(block: ContentBlock): ContentBlock {
    return block.type === "image" ? { ...block } : run.redactor.value({ ...block });
  }
}

async function addInput(running: Running, input: string): Promise<void> {
  const blocked = await submitPrompt(running, [{ type: "text", text: input }]);
  if (blocked === undefined) return;
  recordFact(running, "error", { code: "prompt_blocked", message: blocked }, "warn");
}

function addHookContext(running: Running, text: string): void {
  addNode(running, hookNode(nextNodePlace(running), running.run.redactor.text(text)));
}

function buildRequest(
  running: Running,
  model: Model,
  { tools }: ModelTools,
  context: ResolvedContext,
): ModelRequest {
  const { agent_definition_id, limits } = running;
  return {
    index: running.requests,
    run_id: running.run.identity.run_id,
    ...omitUndefined({ agent_definition_id }),
    system: context.system,
    messages: context.messages(model),
    tools,
    ...omitUndefined({ max_output_tokens: limits.max_output_tokens }),
  };
}

/** What was found and loaded since the run began stays known to the conversation. */
function rememberLoadedTools({ run, loadedTools, seenDeferred }: Running): void {
  for (const { name } of run.surface.deferred) seenDeferred.add(name);
  for (const { name } of run.surface.loaded) if (seenDeferred.has(name)) loadedTools.add(name);
}

function endAborted({ control }: Running): Ending {
  return endWith("aborted_streaming", "aborted", `The run was aborted: ${control.aborted ?? ""}`);
}

function endFailedByModel({ error, wrote }: Extract<Attempt, { kind: "failed" }>): Ending {
  const { kind, message } = error;
  return endWith(
    "failed",
    kind,
    wrote
      ? `${message} A call of this answer had already changed something, so it was not asked again.`
      : message,
  );
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
