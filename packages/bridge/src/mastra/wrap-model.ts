// A model whose answers Mastra cannot change before the kernel sees them: it repairs arguments that are no JSON, takes a repeated
// id for the same call, and answers calls of unknown tools itself.

import { randomUUID } from "node:crypto";
import type { JsonObject } from "@soong/core";
import { isRecord } from "@soong/schema";
import {
  packArguments,
  readStream,
  type OfferedNames,
  type PartReader,
  type StreamedAnswer,
  type StreamedCall,
} from "../kernel/index.ts";
import { packStray, readStray, restoreInput, STRAY_TOOL } from "./stray-calls.ts";
import type { MastraModel, MastraRequest, MastraStreamPart } from "./types.ts";

/** A call of the newest answer with its result, as the conversation has them. */
export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly text: string | undefined;
}

export interface CallWatcher {
  /** Of the tools of the bridge, by name. Those of others are sent and called as they are. */
  readonly schemas: ReadonlyMap<string, JsonObject>;
  /** The model called one of these tools. */
  readonly onCall: (call: StreamedCall) => void;
  /** Before each request. */
  readonly readNames: () => Promise<OfferedNames>;
  /** Before each request. */
  readonly onAnswered: (calls: readonly AnsweredCall[]) => Promise<void>;
  /** For each answer that streams. */
  readonly openAnswer: (signal: AbortSignal | undefined) => OpenAnswer;
}

type OpenAnswer = Pick<StreamedAnswer, "push" | "complete" | "drop">;

export function wrapModel<M extends MastraModel>(model: M, watcher: CallWatcher): M {
  const ask =
    (way: "doGenerate" | "doStream"): MastraModel["doStream"] =>
    async (given) => {
      const request = restoreRequest(given, watcher, TAKES_IMAGES.test(model.provider));
      await watcher.onAnswered(listAnswered(request));
      const { findWireName } = await watcher.readNames();
      const answer = await model[way](request);
      const early = way === "doStream" ? watcher.openAnswer(request.abortSignal) : undefined;
      const stream = readStream(
        answer.stream,
        adaptParts(request, { ...watcher, findWireName }, early),
      );
      return { ...answer, stream };
    };
  const own: Record<string | symbol, unknown> = {
    doGenerate: ask("doGenerate"),
    doStream: ask("doStream"),
  };
  // A proxy, as Mastra looks at the class of a model.
  return new Proxy(model, {
    get(target, key) {
      if (key in own) return own[key];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

function adaptParts(
  { prompt, tools = [] }: MastraRequest,
  { schemas, onCall, findWireName }: CallWatcher & Pick<OfferedNames, "findWireName">,
  early: OpenAnswer | undefined,
): PartReader<MastraStreamPart> {
  const used = new Set(
    prompt
      .flatMap(listParts)
      .filter(isCall)
      .map(({ toolCallId }) => toolCallId),
  );
  const begun = new Map<string, BegunCall>();
  const offered = new Set(tools.map(({ name }) => name));

  return {
    read(part) {
      if (isFinish(part)) endEarly(readReason(part.finishReason));
      return isInputPart(part) ? adaptInput(part) : adaptCall(part);
    },
    close: (reason) => early?.drop(reason),
  };

  function endEarly(reason: string): void {
    if (reason === "tool-calls" || reason === "stop") early?.complete();
    else early?.drop(`the answer ended: ${reason}`);
  }

  function adaptInput(part: InputPart): InputPart[] {
    const isStart = part.type === "tool-input-start";
    if (isStart && part.providerExecuted !== true) {
      begun.set(part.id, { id: claimId(part.id), toolName: nameTool(part.toolName) });
    }
    const call = begun.get(part.id);
    if (call === undefined) return [part];
    const { id, toolName } = call;
    if (toolName === undefined) return [];
    const renamed = isStart ? { ...part, id, toolName } : { ...part, id };
    if (part.type !== "tool-input-end") return [renamed];
    // Mastra makes a call of it, of `{}` where the text is no JSON. So it waits for the call of the model itself.
    call.end = renamed;
    return [];
  }

  function adaptCall(part: MastraStreamPart): MastraStreamPart[] {
    if (!isCall(part) || typeof part.input !== "string" || part.providerExecuted === true) {
      return [part];
    }
    const { input } = part;
    const name = nameTool(part.toolName);
    const { id, end } = begun.get(part.toolCallId) ?? { id: claimId(part.toolCallId) };
    begun.delete(part.toolCallId);
    const ends = end === undefined ? [] : [end];
    if (name === undefined) {
      const packed = packStray(part.toolName, input);
      const stray = { ...part, toolCallId: id, toolName: STRAY_TOOL, input: packed };
      return [stray];
    }
    const isOwn = schemas.has(name);
    if (isOwn) {
      const seen = { id, name, arguments: input };
      onCall(seen);
      early?.push(seen);
    }
    const packed = isOwn ? packArguments(input) : input;
    const call = { ...part, toolCallId: id, toolName: name, input: packed };
    return packed === input ? [...ends, call] : [call];
  }

  /** The offered name of the tool that the model means; undefined if that was not offered. */
  function nameTool(given: string): string | undefined {
    return [given, findWireName(given)].find((name) => name !== undefined && offered.has(name));
  }

  function claimId(id: string): string {
    const own = id === "" || used.has(id) ? `call_${randomUUID()}` : id;
    used.add(own);
    return own;
  }
}

/** Providers that send images in results on as images. Others send them as their base64, in the text. */
const TAKES_IMAGES = /^(anthropic|amazon-bedrock|google|openai\.responses|openai$|vertex)/;

/** With the names that the model used, our own schemas, and without the tool that it does not see. */
function restoreRequest(
  request: MastraRequest,
  { schemas }: CallWatcher,
  takesImages: boolean,
): MastraRequest {
  const names = new Map<string, string>();
  const prompt = request.prompt.map((message) => {
    if (!Array.isArray(message.content)) return message;
    const content = listParts(message).map((part) => {
      if (isCall(part) && part.toolName === STRAY_TOOL) {
        const stray = readStray(part.input);
        names.set(part.toolCallId, stray.name);
        return { ...part, toolName: stray.name, input: restoreInput(stray) };
      }
      if (!isResult(part)) return part;
      const toolName = names.get(part.toolCallId) ?? part.toolName;
      const { output } = part;
      return { ...part, toolName, output: takesImages ? output : omitImages(output) };
    });
    return { ...message, content };
  });
  // Mastra changes schemas for some models: to those of OpenAI every field is required, and may be null.
  const tools = request.tools
    ?.filter(({ name }) => name !== STRAY_TOOL)
    .map((tool) => {
      const inputSchema = schemas.get(tool.name ?? "");
      return inputSchema === undefined ? tool : { ...tool, inputSchema };
    });
  return { ...request, prompt, ...(tools && { tools }) };
}

/** The text of a result names its images. */
function omitImages(output: ResultPart["output"]): ResultPart["output"] {
  if (output?.type !== "content" || !Array.isArray(output.value)) return output;
  const parts = output.value as { readonly type?: string; readonly text?: string }[];
  const texts = parts.flatMap(({ type, text }) => (type === "text" && text ? [text] : []));
  return { type: "text", value: texts.join("\n") };
}

/** The results behind the last answer. */
function listAnswered({ prompt }: MastraRequest): AnsweredCall[] {
  const last = prompt.findLastIndex(({ role }) => role === "assistant");
  if (last === -1) return [];
  const results = prompt
    .slice(last + 1)
    .flatMap(listParts)
    .filter(isResult);
  return listParts(prompt[last])
    .filter(isCall)
    .flatMap(({ toolCallId: id, toolName: name, input }): AnsweredCall[] => {
      const result = results.find(({ toolCallId }) => toolCallId === id);
      if (result === undefined) return [];
      const { type, value } = result.output ?? {};
      return [{ id, name, input, text: type === "text" ? String(value) : undefined }];
    });
}

interface CallPart {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly providerExecuted?: boolean;
}

interface ResultPart {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output?: { readonly type?: string; readonly value?: unknown };
}

type InputPart =
  | {
      readonly type: "tool-input-start";
      readonly id: string;
      readonly toolName: string;
      readonly providerExecuted?: boolean;
    }
  | { readonly type: "tool-input-delta" | "tool-input-end"; readonly id: string };

/** A call whose arguments are coming. */
interface BegunCall {
  /** The one that it gets. */
  readonly id: string;
  /** The offered one; undefined if it was not offered. */
  readonly toolName: string | undefined;
  end?: InputPart;
}

function listParts(message: MastraRequest["prompt"][number] | undefined): MastraStreamPart[] {
  return Array.isArray(message?.content) ? (message.content as MastraStreamPart[]) : [];
}

function isCall(part: MastraStreamPart): part is CallPart {
  return part.type === "tool-call";
}

function isResult(part: MastraStreamPart): part is ResultPart {
  return part.type === "tool-result";
}

interface FinishPart {
  readonly type: "finish";
  readonly finishReason?: unknown;
}

function isFinish(part: MastraStreamPart): part is FinishPart {
  return part.type === "finish";
}

/** A text before specification v3. */
function readReason(finishReason: unknown): string {
  const reason = isRecord(finishReason) ? finishReason["unified"] : finishReason;
  return typeof reason === "string" ? reason : "without a reason";
}

function isInputPart(part: MastraStreamPart): part is InputPart {
  return part.type.startsWith("tool-input-");
}
