// One attempt at an answer (LOOP-1): the model's events into text, and calls into their turn as soon as their
// arguments are complete. It always ends, and no call is left without an end (SCHED-6).

import type {
  ConversationNode,
  FactData,
  FactRecord,
  FactType,
  JsonObject,
  JsonValue,
  ModelTools,
  Run,
  Turn,
} from "@soong/core";
import { omitUndefined, parseArguments } from "@soong/schema";
import {
  answerNode,
  cutMiddle,
  digestRequest,
  type MessageList,
  type MessageSnapshot,
  type NodePlace,
} from "../context/index.ts";
import {
  computeCost,
  type Model,
  type ModelCall,
  type ModelError,
  type ModelRequest,
  type ModelUsage,
  type StopReason,
} from "../model/index.ts";
import { hasContent, readStream, type AnswerEvent, type StreamEnd } from "./read-stream.ts";
import type { KeptFrame } from "./keep-request.ts";
import type { ResolvedContext } from "./resolve-context.ts";
import {
  addNode,
  addSpending,
  nextNodePlace,
  noteFact,
  recordFact,
  type Running,
} from "./running.ts";

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
  | {
      readonly kind: "failed";
      readonly error: ModelError;
      readonly wrote: boolean;
      /** There was text of it, or a call. */
      readonly hadBegun: boolean;
    }
  | { readonly kind: "aborted" };

/** Of one piece of text in the journal; the whole is in the answer's node. */
const MAX_DELTA_CHARS = 4096;

export function streamAnswer(running: Running, parts: AttemptParts): Promise<Attempt> {
  return new AnswerAttempt(running, parts).stream();
}

class AnswerAttempt {
  readonly #running: Running;
  readonly #parts: AttemptParts;
  readonly #place: NodePlace;
  readonly #record: AttemptRecord;
  readonly #turn: Turn;
  readonly #messages: MessageSnapshot;
  readonly #calls: ModelCall[] = [];
  readonly #complete = new Set<string>();
  /** Calls that came in pieces, by their keys, as far as they came. */
  #begun: Map<string, PartialCall> | undefined = undefined;
  #text = "";
  #reasoning = "";
  readonly #begunAt: number;
  #firstTokenMs: number | undefined = undefined;
  /** Where the text begins that is not in the journal yet. */
  #recordedChars = 0;

  constructor(running: Running, parts: AttemptParts) {
    const { attempt, model, context } = parts;
    this.#running = running;
    this.#parts = parts;
    this.#place = nextNodePlace(running);
    this.#messages = context.messages(model);
    const sent = new SentRecord(context.kept, this.#messages.list, model.settings);
    this.#record = new AttemptRecord(running.requests, attempt, model.id, this.#place, sent);
    this.#begunAt = running.clock.monotonic();
    // A crash must not lose where the answer was to hang: its calls may have acted by then.
    noteFact(running, this.#record, "model.started");
    this.#turn = running.run.openTurn({ parentNodeId: this.#place.node_id });
    running.control.turn = this.#turn;
  }

  async stream(): Promise<Attempt> {
    const running = this.#running;
    const { model, context, tools } = this.#parts;
    const request = new StreamedRequest(running, context.system, tools, this.#messages);
    try {
      const end = await readStream(running, model, request, this.#handleEvent);
      this.#recordText();
      const usage = end === "aborted" ? undefined : end.usage;
      const cost = computeCost(model.prices, usage);
      addSpending(running, usage, cost);
      if (end === "aborted") return await this.#abort({ usage, cost });
      if (end.type === "failed") return await this.#fail(end.error, { usage, cost });
      const isCut = this.#listPartialCalls().length > 0;
      if (isCut && end.stop !== "max_tokens") {
        const message = `${model.id} ended its answer in the middle of a call.`;
        return await this.#fail({ kind: "malformed_stream", message }, { usage, cost });
      }
      return this.#finish(end, cost);
    } catch (error) {
      // The journal failed: nothing may continue, and nothing may be left running.
      await this.#turn.abort("the journal could not be written");
      throw error;
    }
  }

  readonly #handleEvent = (event: AnswerEvent): void => {
    const { log, clock, onText, run } = this.#running;
    if (this.#firstTokenMs === undefined && hasContent(event)) {
      this.#firstTokenMs = clock.monotonic() - this.#begunAt;
    }
    if (event.type === "text_delta") {
      this.#text += event.text;
      log.add({ type: "text_delta", text: event.text });
      onText?.(run.identity.run_id, this.#place.node_id, event.text);
    } else if (event.type === "reasoning_delta") this.#reasoning += event.text;
    else if (event.type === "call_delta") this.#takePiece(event);
    else if (event.type === "call_complete" && !this.#complete.has(event.key)) {
      this.#complete.add(event.key);
      this.#takeCall(event);
    }
  };

  #takePiece({ key, name, arguments: piece }: Extract<AnswerEvent, { type: "call_delta" }>): void {
    const begun = (this.#begun ??= new Map<string, PartialCall>());
    const call = begun.get(key) ?? { name: "", arguments: "" };
    begun.set(key, call);
    call.name = name ?? call.name;
    call.arguments += piece;
  }

  #listPartialCalls(): readonly PartialCall[] {
    if (this.#begun === undefined) return [];
    return [...this.#begun].flatMap(([key, call]) => (this.#complete.has(key) ? [] : [call]));
  }

  #takeCall({ id, name, arguments: sent }: Extract<AnswerEvent, { type: "call_complete" }>): void {
    const { run, log } = this.#running;
    this.#recordText();
    const tool_call_id = this.#turn.push({ id, name, arguments: sent });
    const canonical = findCanonicalName(run, this.#parts.tools, name);
    // First: the turn has just looked through them, too.
    const shown = redactArguments(run, canonical, sent);
    const call: ModelCall = { tool_call_id, name: run.redactor.text(name), arguments: shown };
    this.#calls.push(call);
    log.add({ type: "call", tool_call_id, name: canonical ?? call.name, arguments: shown });
  }

  /** Redacted as a whole: half a secret is not recognised. */
  #recordText(): void {
    const chars = this.#text.length - this.#recordedChars;
    if (chars === 0) return;
    const { request, attempt, model } = this.#record;
    const piece = this.#running.run.redactor.text(this.#text.slice(this.#recordedChars));
    this.#recordedChars = this.#text.length;
    recordFact(this.#running, "model.delta", {
      request,
      attempt,
      model,
      chars,
      text: cutMiddle(piece, MAX_DELTA_CHARS),
    });
  }

  #finish(
    { stop, usage, provider_data }: Extract<StreamEnd, { type: "completed" }>,
    cost: Spent["cost"],
  ): Attempt {
    const { redactor } = this.#running.run;
    const isCut = stop === "max_tokens";
    // A signature that was changed is worse than none, so it is kept whole or not at all.
    const isClean = provider_data !== undefined && redactor.value(provider_data) === provider_data;
    const text = this.#addAnswer({
      ...(isCut ? UNFINISHED : {}),
      ...(isClean ? { provider_data } : {}),
    });
    const calls = this.#calls.length;
    const first_token_ms = this.#firstTokenMs;
    const received = this.#describeReceived(true);
    this.#record.end = { stop, usage: { ...usage }, cost, calls, first_token_ms, received };
    noteFact(this.#running, this.#record, "model.completed");
    if (!isCut) this.#turn.end();
    return { kind: "answered", text, calls, stop, turn: this.#turn };
  }

  async #fail(given: ModelError, spent: Spent): Promise<Attempt> {
    const { control, run, book } = this.#running;
    if (control.aborted !== undefined) return this.#abort(spent);
    const results = await this.#turn.discard(given.message);
    // What is not discarded has changed something, and asking again would have it done twice (LOOP-3).
    const wrote = results.some(({ status }) => status !== "discarded");
    const error = { ...given, message: run.redactor.text(given.message) };
    if (wrote) this.#addAnswer(UNFINISHED);
    this.#recordFailure({ error, ...spent, wrote }, wrote);
    if (wrote) book.add(...this.#turn.nodes);
    return { kind: "failed", error, wrote, hadBegun: this.#hasBegun() };
  }

  /** What there is of the answer stays on record, and its calls have their ends below it. */
  async #abort(spent: Spent): Promise<Attempt> {
    const { control, book } = this.#running;
    const error: ModelError = { kind: "aborted", message: "The run was aborted." };
    const hasBegun = this.#hasBegun();
    if (hasBegun) this.#addAnswer(UNFINISHED);
    this.#recordFailure({ error, ...spent }, hasBegun);
    await this.#turn.abort(control.aborted ?? error.message);
    book.add(...this.#turn.nodes);
    return { kind: "aborted" };
  }

  #hasBegun(): boolean {
    return this.#text !== "" || this.#calls.length > 0;
  }

  #recordFailure(
    how: Spent & { readonly error: ModelError; readonly wrote?: boolean },
    hasNode: boolean,
  ): void {
    const { request, attempt, model } = this.#record;
    const node = hasNode ? { node_id: this.#place.node_id } : {};
    const received = this.#describeReceived(hasNode);
    const more = omitUndefined({ first_token_ms: this.#firstTokenMs, received });
    const data = { request, attempt, model, ...how, ...node, ...more };
    recordFact(this.#running, "model.failed", data, "warn");
  }

  /** What the node of the answer does not hold, or all of it where there is none (MODEL-7). */
  #describeReceived(hasNode: boolean): ReceivedData | undefined {
    if (hasNode && this.#reasoning === "" && this.#begun === undefined) return undefined;
    const { run } = this.#running;
    const partial_calls = this.#listPartialCalls().map(({ name, arguments: sent }) => ({
      name: run.redactor.text(name),
      arguments: redactArguments(run, findCanonicalName(run, this.#parts.tools, name), sent),
    }));
    const received: ReceivedData = omitUndefined({
      text: hasNode || this.#text === "" ? undefined : run.redactor.text(this.#text),
      reasoning: this.#reasoning === "" ? undefined : run.redactor.text(this.#reasoning),
      calls: hasNode || this.#calls.length === 0 ? undefined : this.#calls,
      partial_calls: partial_calls.length === 0 ? undefined : partial_calls,
    });
    return Object.keys(received).length === 0 ? undefined : received;
  }

  /** On record with the fact of its end. Returns its text as it is there. */
  #addAnswer(more: Partial<Parameters<typeof answerNode>[1]>): string {
    const text = this.#running.run.redactor.text(this.#text);
    const answer = { model: this.#record.model, text, calls: this.#calls, ...more };
    addNode(this.#running, answerNode(this.#place, answer));
    return text;
  }
}

/** Its facts are made when they are read. */
class AttemptRecord implements FactRecord {
  nodes: readonly ConversationNode[] | undefined = undefined;
  /** Set before `model.completed` is noted. */
  end: Omit<FactData<"model.completed">, "request" | "attempt" | "model" | "node_id"> | undefined =
    undefined;
  readonly request: number;
  readonly attempt: number;
  readonly model: string;
  readonly #nodeId: string;
  readonly #parentNodeId: string | undefined;
  readonly #sent: SentRecord;

  constructor(request: number, attempt: number, model: string, place: NodePlace, sent: SentRecord) {
    this.request = request;
    this.attempt = attempt;
    this.model = model;
    this.#nodeId = place.node_id;
    this.#parentNodeId = place.parent_id;
    this.#sent = sent;
  }

  factData(type: FactType): FactData {
    const { request, attempt, model } = this;
    const node_id = this.#nodeId;
    if (type === "model.started") {
      const parent_node_id = this.#parentNodeId;
      return { request, attempt, model, node_id, parent_node_id, ...this.#sent.describe(request) };
    }
    const end = this.end as NonNullable<typeof this.end>;
    const { stop, usage, cost, calls, first_token_ms, received } = end;
    return {
      request,
      attempt,
      model,
      stop,
      usage,
      cost,
      calls,
      node_id,
      first_token_ms,
      received,
    };
  }
}

/** What proves a request, worked out when its fact is made. */
class SentRecord {
  readonly #frame: KeptFrame;
  readonly #messages: MessageList;
  readonly #settings: JsonObject | undefined;

  constructor(frame: KeptFrame, messages: MessageList, settings: JsonObject | undefined) {
    this.#frame = frame;
    this.#messages = messages;
    this.#settings = settings;
  }

  describe(index: number): Pick<FactData<"model.started">, "digest" | "settings"> {
    const digest = digestRequest({ index, ...this.#frame }, this.#messages);
    return omitUndefined({ digest, settings: this.#settings });
  }
}

/** What came of a model, where no node of the conversation holds it. */
export interface ReceivedData {
  text?: string | undefined;
  reasoning?: string | undefined;
  calls?: readonly ModelCall[] | undefined;
  /** Calls that it did not finish. */
  partial_calls?: readonly Pick<ModelCall, "name" | "arguments">[] | undefined;
}

interface PartialCall {
  name: string;
  arguments: string;
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
 * As they are recorded in the answer: without secrets, and without what the tool's schema calls sensitive (REDACT-1, REDACT-2).
 * The tool itself is given what the model sent.
 */
function redactArguments(
  { redactor, surface }: Run,
  tool: string | undefined,
  given: string,
): string {
  const standing = tool === undefined ? undefined : surface.standing.get(tool);
  const sensitive = standing?.tool?.input.sensitive ?? [];
  const sent = redactor.text(given);
  if (sensitive.length === 0) return sent;
  const parsed = parseArguments(given);
  if (!parsed.ok) return UNREADABLE;
  const value = parsed.value as JsonValue;
  const redacted = redactor.value(value, { sensitive });
  return redacted === value ? sent : JSON.stringify(redacted);
}

/** Of a name as the model has it; undefined where no tool has it. */
function findCanonicalName({ surface }: Run, { names }: ModelTools, name: string) {
  const canonical = names.toCanonical(name) ?? surface.aliases.get(name);
  return canonical ?? (surface.standing.has(name) ? name : undefined);
}
