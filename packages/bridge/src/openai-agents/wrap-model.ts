// A model as the SDK takes it, whose answers the SDK cannot choke on: each call has arguments that are an object and an id of its
// own. The SDK ends a run at a repeated id, and takes one that was approved before as approved.

import { randomUUID } from "node:crypto";
import {
  packArguments,
  unpackArguments,
  type StreamedAnswer,
  type StreamedCall,
} from "../kernel/index.ts";
import { readRawCall } from "./read-raw-call.ts";
import type { AgentsModel, AgentsRequest } from "./types.ts";

export interface SeenCall {
  readonly id: string;
  readonly name: string;
  /** The text, or a value. */
  readonly arguments: unknown;
}

export interface CallWatcher {
  /** Whether it is a tool of the bridge. Those of others get their arguments as they are. */
  readonly isOwn: (name: string) => boolean;
  /** Names of the tools of the bridge that the next request may contain. */
  readonly listLoaded: () => Promise<readonly string[]>;
  /** The model called what is not there: the SDK answers that itself. */
  readonly onUnknownCall: (call: SeenCall) => void;
  /** Before each request, with the calls in its conversation. */
  readonly onRequest: (calls: readonly SeenCall[]) => Promise<void>;
  /** For each answer that streams. */
  readonly openAnswer: (signal: AbortSignal | undefined) => OpenAnswer;
}

type OpenAnswer = Pick<StreamedAnswer, "push" | "completeWith" | "drop">;

export function wrapModel<M extends AgentsModel>(model: M, watcher: CallWatcher): M {
  const getResponse: AgentsModel["getResponse"] = async (given) => {
    const request = await prepareRequest(given, watcher);
    const response = await model.getResponse(request);
    return { ...response, output: adaptOutput(response.output, request, watcher).output };
  };
  const getStreamedResponse: AgentsModel["getStreamedResponse"] = async function* (given) {
    const request = await prepareRequest(given, watcher);
    const early = watcher.openAnswer(request.signal);
    const startCall = createStarter(request, watcher, early);
    try {
      for await (const event of model.getStreamedResponse(request)) {
        if (!isDone(event)) {
          startCall(event);
          yield event;
        } else {
          const { output, own } = adaptOutput(event.response.output, request, watcher);
          early.completeWith(own);
          yield { ...event, response: { ...event.response, output } };
        }
      }
    } finally {
      early.drop("the answer ended too early");
    }
  };
  // A proxy, as models have more members than the two, and the SDK looks at their class.
  return new Proxy(model, {
    get(target, key) {
      if (key === "getResponse") return getResponse;
      if (key === "getStreamedResponse") return getStreamedResponse;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Starts calls as they come. From the first one on whose id will be replaced, they wait for the end of the answer. */
function createStarter(
  { input }: AgentsRequest,
  { isOwn }: CallWatcher,
  early: OpenAnswer,
): (event: object) => void {
  const used = new Set(listCalls(input).map(({ callId }) => callId));
  let isWaiting = false;
  return (event) => {
    const call = readRawCall(event);
    if (call === undefined) return;
    isWaiting ||= call.id === "" || used.has(call.id);
    used.add(call.id);
    if (!isWaiting && isOwn(call.name)) early.push(call);
  };
}

interface AdaptedOutput {
  readonly output: object[];
  /** Calls of the bridge's tools, as the model made them. */
  readonly own: StreamedCall[];
}

function adaptOutput(
  given: readonly object[],
  request: AgentsRequest,
  { isOwn, onUnknownCall }: CallWatcher,
): AdaptedOutput {
  const { input, tools, handoffs, previousResponseId, conversationId } = request;
  // Where the provider keeps the conversation, it knows a call by the id that it gave.
  const keepsIds = previousResponseId !== undefined || conversationId !== undefined;
  const used = new Set(listCalls(input).map(({ callId }) => callId));
  const offered = new Set([
    ...tools.map(({ name }) => name),
    ...handoffs.map(({ toolName }) => toolName),
  ]);
  const own: StreamedCall[] = [];
  const output = given.map((item) => {
    if (!isCall(item)) return item;
    const { name } = item;
    const isFree = item.callId !== "" && !used.has(item.callId);
    const callId = isFree || keepsIds ? item.callId : `call_${randomUUID()}`;
    used.add(callId);
    const call = { id: callId, name, arguments: item.arguments };
    if (isOwn(name)) own.push(call);
    else if (!offered.has(name)) onUnknownCall(call);
    const packed = isOwn(name) ? packArguments(item.arguments) : item.arguments;
    return { ...item, callId, arguments: packed };
  });
  return { output, own };
}

async function prepareRequest(
  request: AgentsRequest,
  { isOwn, listLoaded, onRequest }: CallWatcher,
): Promise<AgentsRequest> {
  const loaded = await listLoaded();
  const tools = request.tools.filter(({ name }) => !isOwn(name) || loaded.includes(name));
  const restored = restoreInput({ ...request, tools });
  const calls = listCalls(restored.input);
  await onRequest(
    calls.map(({ callId, name, arguments: text }) => ({ id: callId, name, arguments: text })),
  );
  return restored;
}

/** The conversation as the model wrote it. */
function restoreInput(request: AgentsRequest): AgentsRequest {
  const { input } = request;
  if (typeof input === "string") return request;
  const restored = input.map((item) =>
    isCall(item) ? { ...item, arguments: unpackArguments(item.arguments) } : item,
  );
  return { ...request, input: restored };
}

interface CallItem {
  readonly type: "function_call";
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}

function listCalls(input: AgentsRequest["input"]): CallItem[] {
  return typeof input === "string" ? [] : input.filter(isCall);
}

function isCall(item: object): item is CallItem {
  return (
    "type" in item &&
    item.type === "function_call" &&
    "callId" in item &&
    typeof item.callId === "string" &&
    "arguments" in item &&
    typeof item.arguments === "string" &&
    "name" in item &&
    typeof item.name === "string"
  );
}

interface DoneEvent {
  readonly type: "response_done";
  readonly response: { readonly output: readonly object[] };
}

function isDone(event: object): event is DoneEvent {
  return "type" in event && event.type === "response_done";
}
