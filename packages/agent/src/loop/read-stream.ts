// A model's stream, read to its end however the model keeps to its port: a throw, a hang, an end that is missing and
// an event that is none are failures like any other.

import { messageOf } from "@soong/core";
import type { Model, ModelError, ModelEvent, ModelRequest } from "../model/index.ts";
import type { Running } from "./running.ts";

type StreamEnd = Extract<ModelEvent, { type: "completed" | "failed" }>;

export async function readStream(
  { control, clock, limits }: Pick<Running, "control" | "clock" | "limits">,
  model: Model,
  request: ModelRequest,
  take: (event: ModelEvent) => void,
): Promise<StreamEnd | "aborted"> {
  if (control.aborted !== undefined) return "aborted";
  let iterator: AsyncIterator<ModelEvent>;
  try {
    iterator = model.stream(request, control.signal)[Symbol.asyncIterator]();
  } catch (error) {
    return threw(error);
  }
  for (;;) {
    const next = await nextEvent(iterator);
    if (next.kind === "aborted") return leave("aborted");
    if (next.kind === "threw") return threw(next.error);
    if (next.kind === "idle") {
      const message = `${model.id} said nothing for ${limits.idle_timeout_ms} ms.`;
      return leave(failure("timeout", message));
    }
    if (next.result.done === true) {
      if (control.aborted !== undefined) return "aborted";
      return failure("disconnect", `${model.id} stopped in the middle of its answer.`);
    }
    const event: unknown = next.result.value;
    if (!isModelEvent(event)) {
      return leave(failure("malformed_stream", `${model.id} told something that is no event.`));
    }
    if (event.type === "completed" || event.type === "failed") return leave(event);
    try {
      take(event);
    } catch (error) {
      leave(error);
      throw error;
    }
  }

  type Next =
    | { kind: "event"; result: IteratorResult<ModelEvent> }
    | { kind: "threw"; error: unknown }
    | { kind: "idle" }
    | { kind: "aborted" };

  async function nextEvent(of: AsyncIterator<ModelEvent>): Promise<Next> {
    let forget = (): void => {};
    const idle = new Promise<Next>((resolve) => {
      forget = clock.after(limits.idle_timeout_ms, () => resolve({ kind: "idle" }));
    });
    const event = Promise.resolve()
      .then(() => of.next())
      .then(
        (result): Next => ({ kind: "event", result }),
        (error: unknown): Next => ({ kind: "threw", error }),
      );
    const next = await control.unlessAborted(Promise.race([event, idle]));
    forget();
    return next === "aborted" ? { kind: "aborted" } : next;
  }

  /** Nobody waits for a model to tidy up. */
  function leave<T>(end: T): T {
    try {
      iterator.return?.().then(undefined, () => {});
    } catch {
      // It has been left all the same.
    }
    return end;
  }

  function threw(error: unknown): StreamEnd {
    return failure("malformed_stream", `The adapter of ${model.id} failed: ${messageOf(error)}`);
  }
}

function failure(kind: ModelError["kind"], message: string): StreamEnd {
  return { type: "failed", error: { kind, message } };
}

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  text_delta: ["text"],
  call_delta: ["key", "arguments"],
  call_complete: ["key", "name", "arguments"],
  completed: ["stop"],
  failed: [],
};

function isModelEvent(event: unknown): event is ModelEvent {
  if (!isRecord(event)) return false;
  const { type, usage, error } = event;
  const fields = typeof type === "string" ? TEXTS[type] : undefined;
  if (fields === undefined || !fields.every((field) => typeof event[field] === "string")) {
    return false;
  }
  if (type === "completed") return isRecord(usage);
  if (type !== "failed") return true;
  return (
    isRecord(error) && typeof error["kind"] === "string" && typeof error["message"] === "string"
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
