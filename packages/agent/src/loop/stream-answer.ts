// One attempt at an answer (LOOP-1): the model's events into text, and calls into their turn as soon as their
// arguments are complete. It always ends, and no call is left without an end (SCHED-6).

import type { ConversationNode, FactData, JsonObject, ModelTools, Turn } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import {
  computeCost,
  type Model,
  type ModelCall,
  type ModelError,
  type ModelEvent,
  type ModelRequest,
  type ModelUsage,
  type StopReason,
} from "../model/index.ts";
import { answerNode, cutMiddle } from "../context/index.ts";
import { readStream } from "./read-stream.ts";
import { canonicalName, redactCall } from "./redact-call.ts";
import { nextNodePlace, recordFact, addSpending, type Running } from "./running.ts";

export interface AttemptParts {
  readonly model: Model;
  readonly request: ModelRequest;
  readonly tools: ModelTools;
  /** From 1, over all models of the request. */
  readonly attempt: number;
}

export type Attempt =
  | {
      readonly kind: "answered";
      readonly text: string;
      readonly calls: number;
      readonly stop: StopReason;
      readonly turn: Turn;
    }
  | { readonly kind: "failed"; readonly error: ModelError; readonly wrote: boolean }
  | { readonly kind: "aborted" };

/** Of one piece of text in the journal; the whole is in the answer's node. */
const MAX_DELTA_CHARS = 4096;

export async function streamAnswer(running: Running, parts: AttemptParts): Promise<Attempt> {
  const { run, control, log } = running;
  const { model, request, tools, attempt } = parts;
  const about = { request: request.index, attempt, model: model.id };
  const place = nextNodePlace(running);
  const calls: ModelCall[] = [];
  const complete = new Set<string>();
  const begun = new Set<string>();
  let text = "";
  /** Where the text begins that is not in the journal yet. */
  let recordedChars = 0;

  const { node_id, parent_id: parent_node_id } = place;
  // A crash must not lose where the answer was to hang: its calls may have acted by then.
  recordFact(running, "model.started", { ...about, node_id, parent_node_id });
  const turn = run.openTurn({ parentNodeId: place.node_id });
  control.turn = turn;
  try {
    const end = await readStream(running, model, request, handleEvent);
    recordText();
    const used = end === "aborted" ? undefined : end.usage;
    addSpending(running, used, computeCost(model.prices, used));
    if (end === "aborted") return await abortAnswer(undefined);
    if (end.type === "failed") return await failAnswer(end.error, end.usage);
    const cut = [...begun].filter((key) => !complete.has(key));
    if (cut.length > 0 && end.stop !== "max_tokens") {
      const message = `${model.id} ended its answer in the middle of a call.`;
      return await failAnswer({ kind: "malformed_stream", message }, end.usage);
    }
    return completeAnswer(end.stop, end.usage, end.provider_data);
  } catch (error) {
    // The journal failed: nothing may continue, and nothing may be left running.
    await turn.abort("the journal could not be written");
    throw error;
  }

  function handleEvent(event: ModelEvent): void {
    if (event.type === "text_delta") {
      text += event.text;
      log.add({ type: "text_delta", text: event.text });
    } else if (event.type === "call_delta") begun.add(event.key);
    else if (event.type === "call_complete" && !complete.has(event.key)) {
      complete.add(event.key);
      recordText();
      const { id, name, arguments: sent } = event;
      const given = { name, arguments: sent, ...omitUndefined({ id }) };
      const tool_call_id = turn.push(given);
      const call = redactCall(run, tools, { tool_call_id, name, arguments: sent });
      calls.push(call);
      log.add({ type: "call", ...call, name: canonicalName(run, tools.names, call.name) });
    }
  }

  /** Redacted as a whole: half a secret is not recognised. */
  function recordText(): void {
    if (recordedChars === text.length) return;
    const piece = run.redactor.text(text.slice(recordedChars));
    const data = {
      ...about,
      chars: text.length - recordedChars,
      text: cutMiddle(piece, MAX_DELTA_CHARS),
    };
    recordedChars = text.length;
    recordFact(running, "model.delta", data);
  }

  function completeAnswer(
    stop: StopReason,
    used: ModelUsage,
    provider_data: JsonObject | undefined,
  ): Attempt {
    const data = {
      ...about,
      stop,
      usage: { ...used },
      cost: computeCost(model.prices, used),
      calls: calls.length,
    };
    commitAnswer("model.completed", data, provider_data, stop);
    if (stop !== "max_tokens") turn.end();
    return { kind: "answered", text: run.redactor.text(text), calls: calls.length, stop, turn };
  }

  async function failAnswer(error: ModelError, used: ModelUsage | undefined): Promise<Attempt> {
    if (control.aborted !== undefined) return abortAnswer(used);
    const results = await turn.discard(error.message);
    // What is not discarded has changed something, and asking again would have it done twice (LOOP-3).
    const wrote = results.some(({ status }) => status !== "discarded");
    const data = {
      ...about,
      error: clean(error),
      usage: used,
      cost: computeCost(model.prices, used),
      wrote,
    };
    if (wrote) {
      commitAnswer("model.failed", data, undefined);
      running.path.push(...turn.nodes);
    } else recordFact(running, "model.failed", data, "warn");
    return { kind: "failed", error: clean(error), wrote };
  }

  /** What there is of the answer stays on record, and its calls have their ends below it. */
  async function abortAnswer(used: ModelUsage | undefined): Promise<Attempt> {
    const error: ModelError = { kind: "aborted", message: "The run was aborted." };
    const data = { ...about, error, usage: used, cost: computeCost(model.prices, used) };
    if (text !== "" || calls.length > 0) commitAnswer("model.failed", data, undefined);
    else recordFact(running, "model.failed", data, "warn");
    await turn.abort(control.aborted ?? error.message);
    running.path.push(...turn.nodes);
    return { kind: "aborted" };
  }

  function commitAnswer<T extends "model.completed" | "model.failed">(
    type: T,
    data: FactData<T>,
    given: JsonObject | undefined,
    stop?: StopReason,
  ): void {
    // A signature that was changed is worse than none, so it is kept whole or not at all.
    const isClean = given !== undefined && run.redactor.value(given) === given;
    const node: ConversationNode = answerNode(place, {
      model: model.id,
      text: run.redactor.text(text),
      calls,
      ...(type === "model.failed" || stop === "max_tokens" ? { unfinished: true } : {}),
      ...(isClean ? { provider_data: given } : {}),
    });
    running.path.push(node);
    running.pending.push(node);
    const level = type === "model.completed" ? "info" : "warn";
    recordFact(running, type, { ...data, node_id: node.node_id }, level);
  }

  function clean(error: ModelError): ModelError {
    return { ...error, message: run.redactor.text(error.message) };
  }
}
