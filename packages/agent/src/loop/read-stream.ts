// A model's stream, read to its end however the model keeps to its port: a throw, a hang, an end that is missing, an answer
// without end and an event that is none are failures like any other. When it ends, the model is told by its signal to let go of
// its connection: an iterator that waits for the network cannot be ended otherwise.

import { messageOf } from "@soong/core";
import { isRecord } from "@soong/schema";
import type { Model, ModelError, ModelEvent, ModelRequest } from "../model/index.ts";
import type { Running } from "./running.ts";

export type StreamEnd = Extract<ModelEvent, { type: "completed" | "failed" }>;
export type AnswerEvent = Exclude<ModelEvent, StreamEnd>;

export async function readStream(
  { control, clock, limits }: Pick<Running, "control" | "clock" | "limits">,
  model: Model,
  request: ModelRequest,
  take: (event: AnswerEvent) => void,
): Promise<StreamEnd | "aborted"> {
  if (control.aborted !== undefined) return "aborted";
  const { idle_timeout_ms, max_answer_ms, max_answer_bytes } = limits;
  const attempt = new AbortController();
  const forward = (): void => attempt.abort(control.signal.reason);
  control.signal.addEventListener("abort", forward);
  /** Set once its time is up; `wake` ends the wait for the next event then. */
  let late: StreamEnd | undefined;
  let wake = (): void => {};
  const endAfter = (ms: number, end: StreamEnd): (() => void) =>
    clock.after(ms, () => {
      late ??= end;
      wake();
    });
  const idle = toFailedEvent("timeout", `${model.id} said nothing for ${idle_timeout_ms} ms.`);
  let forgetIdle = endAfter(idle_timeout_ms, idle);
  const forgetTotal = endAfter(
    max_answer_ms,
    toFailedEvent(
      "answer_too_slow",
      `${model.id} had not ended its answer after ${max_answer_ms} ms, so it was cut off. Raise model.max_answer_ms if such answers are wanted.`,
    ),
  );
  let iterator: AsyncIterator<ModelEvent> | undefined;
  try {
    iterator = model.stream(request, attempt.signal)[Symbol.asyncIterator]();
    return await readAll(iterator);
  } catch (error) {
    if (iterator === undefined) return toAdapterFailure(error);
    throw error;
  } finally {
    forgetIdle();
    forgetTotal();
    control.signal.removeEventListener("abort", forward);
    closeStream(iterator);
  }

  async function readAll(from: AsyncIterator<ModelEvent>): Promise<StreamEnd | "aborted"> {
    let bytes = 0;
    for (;;) {
      const next = await readNext(from);
      if (next === "aborted" || "type" in next) return next;
      if (next.done === true) {
        if (control.aborted !== undefined) return "aborted";
        return toFailedEvent("disconnect", `${model.id} stopped in the middle of its answer.`);
      }
      const event: unknown = next.value;
      if (!isModelEvent(event)) {
        return toFailedEvent("malformed_stream", `${model.id} sent something that is no event.`);
      }
      if (event.type === "completed" || event.type === "failed") return event;
      bytes += measureEvent(event);
      if (bytes > max_answer_bytes) {
        return toFailedEvent(
          "answer_too_large",
          `The answer of ${model.id} is longer than ${max_answer_bytes} bytes, so it was cut off. Raise model.max_answer_bytes if such answers are wanted.`,
        );
      }
      if (hasContent(event)) {
        forgetIdle();
        forgetIdle = endAfter(idle_timeout_ms, idle);
      }
      take(event);
    }
  }

  /** What the iterator gives, or how the answer has ended without it. */
  async function readNext(from: AsyncIterator<ModelEvent>) {
    const event = Promise.resolve()
      .then(() => from.next())
      .catch(toAdapterFailure);
    const outOfTime = new Promise<void>((resolve) => {
      wake = resolve;
      if (late !== undefined) resolve();
    }).then(() => late ?? idle);
    return control.unlessAborted(Promise.race([event, outOfTime]));
  }

  /** Does not wait for the model to clean up. */
  function closeStream(of: AsyncIterator<ModelEvent> | undefined): void {
    attempt.abort(new Error("the answer is no longer read"));
    try {
      of?.return?.().then(undefined, () => {});
    } catch {
      // It has been left all the same.
    }
  }

  function toAdapterFailure(error: unknown): StreamEnd {
    const message = `The adapter of ${model.id} failed: ${messageOf(error)}`;
    return toFailedEvent("malformed_stream", message);
  }
}

function toFailedEvent(kind: ModelError["kind"], message: string): StreamEnd {
  return { type: "failed", error: { kind, message } };
}

/** What a piece costs at the least, however little it holds: the events of an answer are kept, too. */
const LEAST_BYTES = { text_delta: 64, reasoning_delta: 64, call_delta: 64, call_complete: 1024 };

function measureEvent(event: AnswerEvent): number {
  const text = "text" in event ? event.text : event.arguments;
  return Math.max(LEAST_BYTES[event.type], Buffer.byteLength(text));
}

/** An empty piece keeps a connection busy, not an answer. */
function hasContent(event: AnswerEvent): boolean {
  if ("text" in event) return event.text !== "";
  return event.type === "call_complete" || event.arguments !== "" || event.name !== undefined;
}

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  text_delta: ["text"],
  reasoning_delta: ["text"],
  call_delta: ["key", "arguments"],
  call_complete: ["key", "name", "arguments"],
  completed: ["stop"],
  failed: [],
};

function isModelEvent(event: unknown): event is ModelEvent {
  if (!isRecord(event)) return false;
  const { type, usage, error } = event;
  const fields = typeof type === "string" ? TEXTS[type] : undefined;
  const hasTexts = (of: Readonly<Record<string, unknown>>, names: readonly string[]): boolean =>
    names.every((name) => typeof of[name] === "string");
  if (fields === undefined || !hasTexts(event, fields)) return false;
  if (type === "completed") return isRecord(usage);
  return type !== "failed" || (isRecord(error) && hasTexts(error, ["kind", "message"]));
}
