// A model of the AI SDK behind our port (MODEL-1). It owns the connection: what is sent, the abort, and that
// every answer ends in `completed` or `failed`, never in an exception and never in silence.

import { createRedactor, type KnownSecret } from "@soong/core";
import type { Model, ModelEvent, ModelRequest } from "../model/index.ts";
import { buildCallOptions, checkInterfaceVersion, type AnyLanguageModel } from "./call-options.ts";
import { preflight } from "./preflight.ts";
import type { ProviderProfile } from "./profile.ts";
import { createPartReader, type StreamPart } from "./read-parts.ts";
import { modelError, toModelError } from "./to-model-error.ts";

export interface LanguageModelOptions {
  readonly id: string;
  readonly profile: ProviderProfile;
  /** Keys in use, which no error message may repeat. */
  readonly secrets?: readonly KnownSecret[];
}

export interface ProviderModel extends Model {
  readonly profile: ProviderProfile;
}

export function languageModel(
  model: AnyLanguageModel,
  { id, profile, secrets = [] }: LanguageModelOptions,
): ProviderModel {
  checkInterfaceVersion(model, id);
  const redactor = createRedactor({ secrets });
  const context = { modelId: id, redact: (text: string) => redactor.text(text) };

  return { id, profile, stream };

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const refused = preflight(request, profile);
    if (refused !== undefined) {
      yield { type: "failed", error: refused };
      return;
    }
    const connection = openConnection(signal);
    let begun = false;
    try {
      const readPart = createPartReader(context);
      const to = { id, version: model.specificationVersion, profile };
      const options = buildCallOptions(request, to);
      for await (const part of connection.parts(model, options)) {
        begun ||= BEGINS.test(part.type);
        for (const event of readPart(part)) {
          yield event;
          if (event.type === "completed" || event.type === "failed") return;
        }
      }
      yield { type: "failed", error: modelError("disconnect", id) };
    } catch (error) {
      yield {
        type: "failed",
        error: signal.aborted
          ? modelError("aborted", id)
          : toModelError(error, { ...context, begun }),
      };
    } finally {
      connection.close();
    }
  }
}

/** Parts that are part of an answer, not of the call to it. */
const BEGINS = /^(text|reasoning|tool|response|raw)/;

interface Connection {
  parts(model: AnyLanguageModel, options: object): AsyncIterable<StreamPart>;
  close(): void;
}

/** Ends when the signal fires, also where the package does not listen to it. */
function openConnection(signal: AbortSignal): Connection {
  const request = new AbortController();
  let stopWaiting = () => {};
  const abort = () => {
    request.abort();
    stopWaiting();
  };
  signal.addEventListener("abort", abort, { once: true });

  return {
    async *parts(model, options) {
      signal.throwIfAborted();
      const reader = (await answer(model, options)).getReader();
      // A cancelled stream ends at once, regardless of its source.
      const cancel = () => void reader.cancel().catch(() => undefined);
      stopWaiting = cancel;
      try {
        for (;;) {
          const { done, value } = await reader.read();
          signal.throwIfAborted();
          if (done) return;
          yield value;
        }
      } finally {
        cancel();
      }
    },
    close() {
      signal.removeEventListener("abort", abort);
      request.abort();
    },
  };

  function answer(model: AnyLanguageModel, options: object): Promise<ReadableStream<StreamPart>> {
    return new Promise((resolve, reject) => {
      stopWaiting = () => reject(new Error("aborted"));
      // One shape of options serves all versions; the differences are in the data (interface-version.ts).
      const stream = model.doStream as (given: object) => PromiseLike<Answer>;
      Promise.resolve(stream.call(model, { ...options, abortSignal: request.signal })).then(
        (answered) => resolve(answered.stream),
        reject,
      );
    });
  }
}

interface Answer {
  readonly stream: ReadableStream<StreamPart>;
}
