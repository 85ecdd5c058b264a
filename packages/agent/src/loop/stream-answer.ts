// One attempt at an answer (LOOP-1): the model's events into text, and calls into their turn as soon as their
// arguments are complete. It always ends, and no call is left without an end (SCHED-6).

import type { JsonValue, ModelTools, Run, Turn } from "@soong/core";
import { parseArguments } from "@soong/schema";
import { answerNode, cutMiddle, type MessageSnapshot } from "../context/index.ts";
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

  const request = new StreamedRequest(running, context.system, tools, context.messages(model));
  // A crash must not lose where the answer was to hang: its calls may have acted by then.
  recordFact(running, "model.started", {
    request: requests,
    attempt,
    model: model.id,
    node_id,
    parent_node_id,
  });
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
    recordFact(running, "model.delta", {
      request: requests,
      attempt,
      model: model.id,
      chars,
      text: cutMiddle(piece, MAX_DELTA_CHARS),
    });
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
    recordFact(running, "model.completed", {
      request: requests,
      attempt,
      model: model.id,
      stop,
      usage: { ...usage },
      cost,
      calls: count,
      node_id,
    });
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

/**
 * Its messages are put together when they are read. A getter in a literal would do, but its closure is held by old space:
 * 25 kB of each request outlived every minor collection.
 */
class StreamedRequest implements ModelRequest {
  readonly index: number;
  readonly run_id: string;
  readonly agent_definition_id: string | undefined;
  readonly system: readonly string[];
  declare readonly messages: ModelRequest["messages"];
  readonly tools: ModelRequest["tools"];
  readonly max_output_tokens: number | undefined;
  readonly #messages: MessageSnapshot;
  /** Of the object itself, one for all: a model may spread its request. */
  static readonly #getter: PropertyDescriptor & ThisType<StreamedRequest> = {
    enumerable: true,
    get() {
      return this.#messages.toArray();
    },
  };

  constructor(
    { requests, run, agent_definition_id, limits }: Running,
    system: readonly string[],
    { tools }: ModelTools,
    messages: MessageSnapshot,
  ) {
    this.index = requests;
    this.run_id = run.identity.run_id;
    this.agent_definition_id = agent_definition_id;
    this.system = system;
    this.#messages = messages;
    Object.defineProperty(this, "messages", StreamedRequest.#getter);
    this.tools = tools;
    this.max_output_tokens = limits.max_output_tokens;
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
  const { tool_call_id } = call;
  if (sensitive.length === 0) return { tool_call_id, name, arguments: sent };
  const parsed = parseArguments(call.arguments);
  if (!parsed.ok) return { tool_call_id, name, arguments: UNREADABLE };
  const given = parsed.value as JsonValue;
  const redacted = redactor.value(given, { sensitive });
  return { tool_call_id, name, arguments: redacted === given ? sent : JSON.stringify(redacted) };
}

/** Of a name as the model has it; a name that is not known stays as it is. */
function findCanonicalName({ surface }: Run, { names }: ModelTools, name: string): string {
  return names.toCanonical(name) ?? surface.aliases.get(name) ?? name;
}
