// The model in front of the SDK's own: it sees each request before the provider and each call before the SDK.

import { isRecord } from "@soong/schema";
import { readStream } from "../kernel/index.ts";
import { ModelAnswer, type AnswerParts } from "./model-answer.ts";
import type {
  AnswerPart,
  ModelRequest,
  PeerModel,
  StreamedAnswer,
  WholeAnswer,
} from "./peer-types.ts";
import { prepareRequest } from "./prepare-request.ts";

export function wrapModel<Model extends PeerModel>(model: Model, parts: AnswerParts): Model {
  if (!isRecord(model) || typeof model.doGenerate !== "function") {
    throw new TypeError(
      'model() of the bridge takes a model object, such as openai("gpt-5"), and not the name of a model',
    );
  }
  if (wrapped.get(model) === parts) return model;
  const generate = model.doGenerate.bind(model) as Generate;
  const startStream = model.doStream.bind(model) as Stream;
  const own: Record<PropertyKey, unknown> = { doGenerate, doStream };
  // All else is the model's own, on itself: its methods may use private fields.
  const proxy = new Proxy(model, {
    get(target, key) {
      if (Object.hasOwn(own, key)) return own[key];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  wrapped.set(proxy, parts);
  return proxy;

  async function doGenerate(request: ModelRequest): Promise<WholeAnswer> {
    const { prepared, tools } = await prepareRequest(parts, request);
    const given = await generate(prepared);
    const answer = new ModelAnswer(parts, request, tools);
    const content: AnswerPart[] = [];
    for (const part of given.content) content.push(await answer.read(part));
    answer.finish(given.finishReason);
    return { ...given, content };
  }

  async function doStream(request: ModelRequest): Promise<StreamedAnswer> {
    const { prepared, tools } = await prepareRequest(parts, request);
    const given = await startStream(prepared);
    const answer = new ModelAnswer(parts, request, tools);
    const stream = readStream(given.stream, {
      read: async (part) => [await answer.read(part)],
      close: (reason) => answer.drop(reason),
    });
    return { ...given, stream };
  }
}

/** A model that is wrapped twice would hand over each call twice. */
const wrapped = new WeakMap<object, AnswerParts>();

type Generate = (request: ModelRequest) => PromiseLike<WholeAnswer>;
type Stream = (request: ModelRequest) => PromiseLike<StreamedAnswer>;
