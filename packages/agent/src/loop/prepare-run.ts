// What is on the path before the first request: the files a session begins with (INSTR-2), the prompt as the hooks let it pass
// (HOOK-6), and memories that fit it (MEM-4). What keeps instructions or memories from it is on record, and the run continues.

import {
  messageOf,
  type ContentBlock,
  type Explanation,
  type JsonObject,
  type ToolCall,
  type ToolResult,
  type Turn,
} from "@soong/core";
import { hookNode, instructionNode, messageText, userNode } from "../context/index.ts";
import type { InstructionTexts } from "./instruction-cache.ts";
import { endWith, type Ending } from "./run-events.ts";
import { addNode, nextNodePlace, recordFact, recordWarning, type Running } from "./running.ts";

export async function loadInstructions(running: Running): Promise<void> {
  const { run, control, instructions: cache } = running;
  const { source } = cache;
  if (source === undefined) return;
  const clean = (text: string): string => run.redactor.text(text);
  const loading = Promise.resolve().then(() => source(clean, run.places));
  const loaded = await control.unlessAborted(loading.catch(describeUnreadable));
  if (loaded === "aborted") return;
  cache.source = undefined;
  cache.skipped = loaded.skipped.map(({ origin, path, why }) => ({
    origin,
    path: clean(path),
    why: clean(why),
  }));
  for (const { origin, path, why } of cache.skipped) {
    const message = `The instructions of the ${origin} in ${path} are skipped: ${why}`;
    recordWarning(running, "instructions_skipped", message, { path, origin });
  }
  for (const { text, path, ...about } of loaded.files) {
    const data = { ...about, path: clean(path) };
    const node = instructionNode(nextNodePlace(running), clean(text), data);
    if (cache.add(node)) addNode(running, node);
  }
}

/** A source is the embedder's code. */
function describeUnreadable(error: unknown): InstructionTexts {
  const why = messageOf(error);
  return { files: [], skipped: [{ origin: "project", path: "the instruction source", why }] };
}

/** Returns the reason when a hook blocks it. */
export async function submitPrompt(
  running: Running,
  content: readonly ContentBlock[],
): Promise<string | undefined> {
  const { run, control } = running;
  const submitted = await control.unlessAborted(run.submitPrompt(messageText(content)));
  if (submitted !== "aborted" && submitted.blocked !== undefined) {
    const blocked = run.redactor.text(submitted.blocked);
    recordWarning(running, "prompt_blocked", blocked);
    return blocked;
  }
  // Redacted once, here: the model, the record and a resumed run read the same (REDACT-1).
  const blocks = content.map((block) =>
    // The bytes of an image are no text, and a find in them would only break it.
    block.type === "image" ? { ...block } : run.redactor.value({ ...block }),
  );
  addNode(running, userNode(nextNodePlace(running), blocks));
  if (submitted !== "aborted") for (const text of submitted.context) addHookContext(running, text);
  return undefined;
}

export function addHookContext(running: Running, text: string): void {
  addNode(running, hookNode(nextNodePlace(running), running.run.redactor.text(text)));
}

/** A memory that cannot be read costs the run nothing but itself. An ending: a hook has stopped the run there. */
export async function recallMemories(
  running: Running,
  prompt: readonly ContentBlock[],
): Promise<Ending | undefined> {
  const { recall, run, control, book } = running;
  if (recall === undefined) return undefined;
  let stopped: Ending | undefined;
  const recalling = recall(run.redactor.text(messageText(prompt)), book.path, {
    places: run.places,
    async call(name, input) {
      const called = await callAtStart(running, name, input);
      stopped = toStoppedEnding(called.stopped);
      return called.result;
    },
  }).catch((error: unknown) => {
    const message = `Memories could not be read: ${messageOf(error)}`;
    recordWarning(running, "memory_unreadable", run.redactor.text(message));
  });
  const recalled = await control.unlessAborted(recalling);
  // A call that was under way has its end on record before the run has.
  if (recalled === "aborted") await control.turn?.settled();
  if (recalled === undefined || recalled === "aborted") return stopped;
  const { text, ...about } = recalled.node;
  const content = [{ type: "text" as const, text: run.redactor.text(text) }];
  addNode(running, { ...nextNodePlace(running), ...about, content });
  recordFact(running, "memory.recalled", recalled.about);
  return stopped;
}

export function toStoppedEnding(stopped: Turn["stopped"]): Ending | undefined {
  if (stopped === undefined) return undefined;
  const { hook, reason } = stopped;
  return endWith("aborted_tools", "stopped_by_hook", `The hook ${hook} ended the run: ${reason}`);
}

/** A user waits for the first answer: a server that needs longer is not waited for. */
const MOST_MS = 10_000;

/**
 * A call the runtime makes before the first model request: through the whole pipeline, within a short time, and only where no
 * one has to be asked. No result: there is none to use.
 */
async function callAtStart(
  running: Running,
  name: string,
  input: JsonObject,
): Promise<{ readonly result?: ToolResult; readonly stopped?: Turn["stopped"] }> {
  const { run, control, clock, log } = running;
  const call: ToolCall = { name, arguments: input, made_by: "runtime" };
  const explained = await run.explain(call);
  if (control.aborted !== undefined) return {};
  if (explained.outcome !== "allow") {
    recordUncalled(running, name, explained);
    return {};
  }
  // With the prompt: a call that ends before it is on record would be taken for the root of the conversation.
  recordFact(running, "memory.recall.started", { at: "start", tool_name: name });
  const turn = run.openTurn();
  control.turn = turn;
  const tool_call_id = turn.push(call);
  const shown = JSON.stringify(explained.observable_input);
  log.add({ type: "call", tool_call_id, name, arguments: shown });
  turn.end();
  const forget = clock.after(MOST_MS, () => {
    void turn.abort(`it gave no answer within ${MOST_MS} ms, before the first model request`);
  });
  const [result] = await turn.settled().finally(forget);
  control.turn = undefined;
  const { stopped } = turn;
  if (result === undefined || control.aborted !== undefined) return { stopped };
  log.add({ type: "result", result });
  if (!result.is_error) return { result, stopped };
  recordNotRecalled(
    running,
    name,
    `${result.status}: ${result.error?.message ?? "no reason given"}`,
  );
  return { stopped };
}

function recordUncalled(
  running: Running,
  tool_name: string,
  explained: Exclude<Explanation, { outcome: "allow" }>,
): void {
  let reason: string;
  if (explained.outcome !== "refused") {
    const { outcome, reason: why } = explained as { outcome: "ask" | "deny"; reason: string };
    reason = outcome === "ask" ? `it requires approval (${why})` : `it is denied (${why})`;
  } else {
    const { error_class, message } = explained.error;
    if (error_class !== "policy_blocked") return recordNotRecalled(running, tool_name, message);
    reason = message;
  }
  recordFact(running, "memory.recall.skipped", { at: "start", tool_name, reason });
}

function recordNotRecalled(running: Running, tool_name: string, why: string): void {
  const message = `The memory ${tool_name} could not be recalled at the start of the run: ${why}`;
  recordWarning(running, "memory_not_recalled", message, { tool_name });
}
