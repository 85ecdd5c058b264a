// A model of the AI SDK behind our port (MODEL-1). It owns the connection: what is sent, the abort, and that
// every answer ends in `completed` or `failed`, never in an exception and never in silence.

import { createRedactor, type JsonObject, type KnownSecret } from "@soong/core";
import { omitUndefined } from "@soong/schema";
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
  const context = {
    modelId: id,
    redact: (text: string) => redactor.text(text),
    keyName: secrets[0]?.name,
  };

  return { id, profile, ...describeSettings(profile), stream };

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const refused = preflight(request, profile);
    if (refused !== undefined) {
      yield { type: "failed", error: refused };
      return;
    }
    let begun = false;
    try {
      const readPart = createPartReader(context);
      const to = { id, version: model.specificationVersion, profile };
      for await (const part of readAnswer(model, buildCallOptions(request, to), signal)) {
        begun ||= BEGINS.test(part.type);
        for (const event of readPart(part)) {
          yield event;
          if (event.type === "completed" || event.type === "failed") return;
        }
      }
      yield { type: "failed", error: modelError("disconnect", id) };
    } catch (error) {
      const isAborted = signal.aborted;
      const failed = isAborted
        ? modelError("aborted", id)
        : toModelError(error, { ...context, begun });
      yield { type: "failed", error: failed };
    }
  }
}

/** What is added to each request; the limit, where a request has none of its own. */
function describeSettings(profile: ProviderProfile): Pick<Model, "settings"> {
  const { max_output_tokens, request_options, cache_mark } = profile;
  const given = { max_output_tokens, provider_options: request_options, cache_mark };
  const settings = omitUndefined(given) as JsonObject;
  return Object.keys(settings).length === 0 ? {} : { settings };
}

/** Parts that are part of an answer, not of the call to it. */
const BEGINS = /^(text|reasoning|tool|response|raw)/;

/** Ends when the signal fires, also where the package does not listen to it. */
async function* readAnswer(
  model: AnyLanguageModel,
  options: object,
  signal: AbortSignal,
): AsyncGenerator<StreamPart, undefined> {
  signal.throwIfAborted();
  const request = new AbortController();
  let stopWaiting = (): void => {};
  const abort = (): void => {
    request.abort();
    stopWaiting();
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    const { stream } = await new Promise<Answer>((resolve, reject) => {
      stopWaiting = () => reject(new Error("aborted"));
      // One shape of options serves all versions; the differences are in the data (call-options.ts).
      const doStream = model.doStream as (given: object) => PromiseLike<Answer>;
      const given = { ...options, abortSignal: request.signal };
      Promise.resolve(doStream.call(model, given)).then(resolve, reject);
    });
    const reader = stream.getReader();
    // A cancelled stream ends at once, regardless of its source.
    stopWaiting = () => void reader.cancel().catch(() => undefined);
    try {
      for (;;) {
        const { done, value } = await reader.read();
        signal.throwIfAborted();
        if (done) return undefined;
        yield value;
      }
    } finally {
      stopWaiting();
    }
  } finally {
    signal.removeEventListener("abort", abort);
    request.abort();
  }
}

interface Answer {
  readonly stream: ReadableStream<StreamPart>;
}
