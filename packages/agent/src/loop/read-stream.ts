// A model's stream, read to its end however the model keeps to its port: a throw, a hang, an end that is missing, an answer
// without end and an event that is none are failures like any other. When it is left, the signal tells the model to close its
// connection: an iterator that waits for the network cannot be ended otherwise.

import { messageOf } from "@soong/core";
import { isRecord } from "@soong/schema";
import type { Model, ModelError, ModelEvent, ModelRequest } from "../model/index.ts";
import type { Running } from "./running.ts";

export type StreamEnd = Extract<ModelEvent, { type: "completed" | "failed" }>;
export type AnswerEvent = Exclude<ModelEvent, StreamEnd>;

type TakeEvent = (event: AnswerEvent) => void;
type ReadingRun = Pick<Running, "control" | "clock" | "limits" | "run">;

/** Rejects as `take` throws. */
export function readStream(
  running: ReadingRun,
  model: Model,
  request: ModelRequest,
  take: TakeEvent,
): Promise<StreamEnd | "aborted"> {
  if (running.control.aborted !== undefined) return Promise.resolve("aborted");
  return new StreamReader(running, model, take).read(request);
}

/** Until a call is on its way, and until a hook has answered for it; each takes 180 bytes. */
const MICROTASKS_OF_A_CALL = 2;
const MICROTASKS_OF_A_HOOK = 12;
const DONE = Promise.resolve();

const NO_LONGER_READ = new Error("the answer is no longer read");

/** No promise and no timer of its own for an event: ten events cost 6 µs each with them. */
class StreamReader {
  readonly #running: ReadingRun;
  readonly #model: Model;
  readonly #take: TakeEvent;
  readonly #attempt = new AbortController();
  readonly #begunAt: number;
  #heardAt: number;
  #bytes = 0;
  #iterator: AsyncIterator<ModelEvent> | undefined = undefined;
  #hasEnded = false;
  #resolve: (end: StreamEnd | "aborted") => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(running: ReadingRun, model: Model, take: TakeEvent) {
    this.#running = running;
    this.#model = model;
    this.#take = take;
    this.#begunAt = running.clock.monotonic();
    this.#heardAt = this.#begunAt;
  }

  read(request: ModelRequest): Promise<StreamEnd | "aborted"> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#running.control.watch(this);
      try {
        const stream = this.#model.stream(request, this.#attempt.signal);
        this.#iterator = stream[Symbol.asyncIterator]();
        this.#readNext(this.#iterator);
      } catch (error) {
        this.#failAdapter(error);
      }
    });
  }

  /** When its time is up, by the monotonic clock. */
  get dueAt(): number {
    const { idle_timeout_ms, max_answer_ms } = this.#running.limits;
    return Math.min(this.#heardAt + idle_timeout_ms, this.#begunAt + max_answer_ms);
  }

  expire(): void {
    const { idle_timeout_ms, max_answer_ms } = this.#running.limits;
    const { id } = this.#model;
    if (this.#heardAt + idle_timeout_ms < this.#begunAt + max_answer_ms) {
      return this.#fail("timeout", `${id} said nothing for ${idle_timeout_ms} ms.`);
    }
    this.#fail(
      "answer_too_slow",
      `${id} had not ended its answer after ${max_answer_ms} ms, so it was cut off. Raise model.max_answer_ms if such answers are wanted.`,
    );
  }

  abort(reason: Error): void {
    this.#attempt.abort(reason);
    this.#end("aborted");
  }

  #readNext(from: AsyncIterator<ModelEvent>): void {
    if (this.#hasEnded) return;
    try {
      Promise.resolve(from.next()).then(this.#handle, this.#failAdapter);
    } catch (error) {
      this.#failAdapter(error);
    }
  }

  readonly #handle = (next: unknown): void => {
    try {
      this.#handleNext(next);
    } catch (error) {
      this.#failAdapter(error);
    }
  };

  #handleNext(next: unknown): void {
    if (this.#hasEnded || this.#iterator === undefined) return;
    const { id } = this.#model;
    if (isRecord(next) && next["done"] === true) {
      return this.#fail("disconnect", `${id} stopped in the middle of its answer.`);
    }
    const event = isRecord(next) ? next["value"] : undefined;
    if (!isModelEvent(event)) {
      return this.#fail("malformed_stream", `${id} sent something that is not an event.`);
    }
    if (event.type === "completed" || event.type === "failed") return this.#end(event, true);
    this.#bytes += measureEvent(event);
    const { max_answer_bytes } = this.#running.limits;
    if (this.#bytes > max_answer_bytes) {
      return this.#fail(
        "answer_too_large",
        `The answer of ${id} is longer than ${max_answer_bytes} bytes, so it was cut off. Raise model.max_answer_bytes if such answers are wanted.`,
      );
    }
    if (hasContent(event)) this.#heardAt = this.#running.clock.monotonic();
    try {
      this.#take(event);
    } catch (error) {
      this.#close();
      return this.#reject(error);
    }
    if (event.type === "call_complete") void this.#readAfterCall(this.#iterator);
    else this.#readNext(this.#iterator);
  }

  /** From a network the next event comes later, when the call is on its way: a model that has all at hand reads the same. */
  async #readAfterCall(from: AsyncIterator<ModelEvent>): Promise<void> {
    const isHooked = this.#running.run.hasHooks("PreToolUse");
    const count = isHooked ? MICROTASKS_OF_A_HOOK : MICROTASKS_OF_A_CALL;
    for (let i = 0; i < count; i += 1) await DONE;
    this.#readNext(from);
  }

  readonly #failAdapter = (error: unknown): void => {
    const message = `The adapter of ${this.#model.id} failed: ${messageOf(error)}`;
    this.#fail("malformed_stream", message);
  };

  #fail(kind: ModelError["kind"], message: string): void {
    this.#end({ type: "failed", error: { kind, message } });
  }

  #end(end: StreamEnd | "aborted", isOwnEnd = false): void {
    if (this.#hasEnded) return;
    this.#close(isOwnEnd);
    this.#resolve(end);
  }

  /** Does not wait for the model to clean up. */
  #close(isOwnEnd = false): void {
    this.#hasEnded = true;
    this.#running.control.watch(undefined);
    try {
      // A signal that fires costs 9 µs. A model that has ended its answer itself needs none.
      if (!isOwnEnd || this.#iterator?.return === undefined) this.#attempt.abort(NO_LONGER_READ);
      this.#iterator?.return?.().then(undefined, () => {});
    } catch {
      // It has been left all the same.
    }
  }
}

/** What a piece costs at the least, however little it holds: the events of an answer are kept, too. */
const LEAST_BYTES = { text_delta: 64, reasoning_delta: 64, call_delta: 64, call_complete: 1024 };

function measureEvent(event: AnswerEvent): number {
  const text = "text" in event ? event.text : event.arguments;
  return Math.max(LEAST_BYTES[event.type], Buffer.byteLength(text));
}

/** An empty piece keeps a connection busy, not an answer. */
export function hasContent(event: AnswerEvent): boolean {
  if ("text" in event) return event.text !== "";
  return event.type === "call_complete" || event.arguments !== "" || event.name !== undefined;
}

function isModelEvent(event: unknown): event is ModelEvent {
  if (!isRecord(event)) return false;
  const { type, text, key, name, arguments: sent, stop, usage, error } = event;
  switch (type) {
    case "text_delta":
    case "reasoning_delta":
      return isText(text);
    case "call_delta":
      return isText(key) && isText(sent);
    case "call_complete":
      return isText(key) && isText(name) && isText(sent);
    case "completed":
      return isText(stop) && isRecord(usage);
    case "failed":
      return isRecord(error) && isText(error["kind"]) && isText(error["message"]);
    default:
      return false;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
