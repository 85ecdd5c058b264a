// One attempt at an answer (LOOP-1): the model's events into text, and calls into their turn as soon as their
// arguments are complete. It always ends, and no call is left without an end (SCHED-6).

import type { JsonValue, ModelTools, Run, Turn } from "@soong/core";
import { parseArguments } from "@soong/schema";
import { answerNode, cutMiddle } from "../context/index.ts";
import {
  computeCost,
  type Model,
  type ModelCall,
  type ModelError,
  type ModelRequest,
  type ModelUsage,
  type StopReason,
} from "../model/index.ts";
import { readStream, type AnswerEvent, type StreamEnd } from "./read-stream.ts";
import type { ResolvedContext } from "./resolve-context.ts";
import { addNode, addSpending, nextNodePlace, recordFact, type Running } from "./running.ts";

interface AttemptParts {
  readonly model: Model;
  readonly context: ResolvedContext;
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
  const { run, control, log, requests, book } = running;
  const { model, context, tools, attempt } = parts;
  const about = { request: requests, attempt, model: model.id };
  const place = nextNodePlace(running);
  const { node_id, parent_id: parent_node_id } = place;
  const calls: ModelCall[] = [];
  const complete = new Set<string>();
  const begun = new Set<string>();
  let text = "";
  /** Where the text begins that is not in the journal yet. */
  let recordedChars = 0;

  const messages = context.messages(model);
  const request: ModelRequest = {
    index: requests,
    run_id: run.identity.run_id,
    agent_definition_id: running.agent_definition_id,
    system: context.system,
    get messages() {
      return messages.toArray();
    },
    tools: tools.tools,
    max_output_tokens: running.limits.max_output_tokens,
  };
  // A crash must not lose where the answer was to hang: its calls may have acted by then.
  recordFact(running, "model.started", { ...about, node_id, parent_node_id });
  const turn = run.openTurn({ parentNodeId: node_id });
  control.turn = turn;
  try {
    const end = await readStream(running, model, request, handleEvent);
    recordText();
    const usage = end === "aborted" ? undefined : end.usage;
    const spent = { usage, cost: computeCost(model.prices, usage) };
    addSpending(running, usage, spent.cost);
    if (end === "aborted") return await abortAnswer(spent);
    if (end.type === "failed") return await failAnswer(end.error, spent);
    const isCut = [...begun].some((key) => !complete.has(key));
    if (isCut && end.stop !== "max_tokens") {
      const message = `${model.id} ended its answer in the middle of a call.`;
      return await failAnswer({ kind: "malformed_stream", message }, spent);
    }
    return completeAnswer(end, spent);
  } catch (error) {
    // The journal failed: nothing may continue, and nothing may be left running.
    await turn.abort("the journal could not be written");
    throw error;
  }

  function handleEvent(event: AnswerEvent): void {
    if (event.type === "text_delta") {
      text += event.text;
      log.add({ type: "text_delta", text: event.text });
    } else if (event.type === "call_delta") begun.add(event.key);
    else if (event.type === "call_complete" && !complete.has(event.key)) {
      complete.add(event.key);
      recordText();
      const { id, name, arguments: sent } = event;
      const tool_call_id = turn.push({ id, name, arguments: sent });
      const call = redactCall(run, tools, { tool_call_id, name, arguments: sent });
      calls.push(call);
      log.add({ type: "call", ...call, name: findCanonicalName(run, tools, call.name) });
    }
  }

  /** Redacted as a whole: half a secret is not recognised. */
  function recordText(): void {
    const chars = text.length - recordedChars;
    if (chars === 0) return;
    const piece = run.redactor.text(text.slice(recordedChars));
    recordedChars = text.length;
    const data = { ...about, chars, text: cutMiddle(piece, MAX_DELTA_CHARS) };
    recordFact(running, "model.delta", data);
  }

  function completeAnswer(
    { stop, provider_data }: Extract<StreamEnd, { type: "completed" }>,
    { usage, cost }: Spent,
  ): Attempt {
    const isCut = stop === "max_tokens";
    // A signature that was changed is worse than none, so it is kept whole or not at all.
    const isClean =
      provider_data !== undefined && run.redactor.value(provider_data) === provider_data;
    addAnswer({ ...(isCut ? UNFINISHED : {}), ...(isClean ? { provider_data } : {}) });
    const count = calls.length;
    const data = { ...about, stop, usage: { ...usage }, cost, calls: count, node_id };
    recordFact(running, "model.completed", data);
    if (!isCut) turn.end();
    return { kind: "answered", text: run.redactor.text(text), calls: count, stop, turn };
  }

  async function failAnswer(given: ModelError, spent: Spent): Promise<Attempt> {
    if (control.aborted !== undefined) return abortAnswer(spent);
    const results = await turn.discard(given.message);
    // What is not discarded has changed something, and asking again would have it done twice (LOOP-3).
    const wrote = results.some(({ status }) => status !== "discarded");
    const error = { ...given, message: run.redactor.text(given.message) };
    if (wrote) addAnswer(UNFINISHED);
    const node = wrote ? { node_id } : {};
    recordFact(running, "model.failed", { ...about, error, ...spent, wrote, ...node }, "warn");
    if (wrote) book.add(...turn.nodes);
    return { kind: "failed", error, wrote };
  }

  /** What there is of the answer stays on record, and its calls have their ends below it. */
  async function abortAnswer(spent: Spent): Promise<Attempt> {
    const error: ModelError = { kind: "aborted", message: "The run was aborted." };
    const hasBegun = text !== "" || calls.length > 0;
    if (hasBegun) addAnswer(UNFINISHED);
    const node = hasBegun ? { node_id } : {};
    recordFact(running, "model.failed", { ...about, error, ...spent, ...node }, "warn");
    await turn.abort(control.aborted ?? error.message);
    book.add(...turn.nodes);
    return { kind: "aborted" };
  }

  /** On record with the fact of its end. */
  function addAnswer(more: Partial<Parameters<typeof answerNode>[1]>): void {
    const answer = { model: model.id, text: run.redactor.text(text), calls, ...more };
    addNode(running, answerNode(place, answer));
  }
}

interface Spent {
  readonly usage: ModelUsage | undefined;
  readonly cost: ReturnType<typeof computeCost>;
}

const UNFINISHED = { unfinished: true } as const;
const UNREADABLE = '"[redacted: arguments that are not valid JSON]"';

/**
 * A call as it is recorded in its answer: without secrets, and without what its tool's schema calls sensitive (REDACT-1,
 * REDACT-2). The tool itself is given what the model sent.
 */
function redactCall(run: Run, tools: ModelTools, call: ModelCall): ModelCall {
  const { redactor, surface } = run;
  const standing = surface.standing.get(findCanonicalName(run, tools, call.name));
  const sensitive = standing?.tool?.input.sensitive ?? [];
  const name = redactor.text(call.name);
  const sent = redactor.text(call.arguments);
  if (sensitive.length === 0) return { ...call, name, arguments: sent };
  const parsed = parseArguments(call.arguments);
  if (!parsed.ok) return { ...call, name, arguments: UNREADABLE };
  const given = parsed.value as JsonValue;
  const redacted = redactor.value(given, { sensitive });
  return { ...call, name, arguments: redacted === given ? sent : JSON.stringify(redacted) };
}

/** Of a name as the model has it; a name that is not known stays as it is. */
function findCanonicalName({ surface }: Run, { names }: ModelTools, name: string): string {
  return names.toCanonical(name) ?? surface.aliases.get(name) ?? name;
}
