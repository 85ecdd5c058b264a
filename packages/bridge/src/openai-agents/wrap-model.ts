// A model as the SDK takes it, whose answers the SDK cannot choke on: each call has arguments that are an object and an id of its
// own. The SDK ends a run at a repeated id, and takes one that was approved before as approved.

import { randomUUID } from "node:crypto";
import { packArguments, unpackArguments } from "../kernel/index.ts";
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
}

export function wrapModel<M extends AgentsModel>(model: M, watcher: CallWatcher): M {
  const getResponse: AgentsModel["getResponse"] = async (given) => {
    const request = await prepareRequest(given, watcher);
    const response = await model.getResponse(request);
    return { ...response, output: adaptOutput(response.output, request, watcher) };
  };
  const getStreamedResponse: AgentsModel["getStreamedResponse"] = async function* (given) {
    const request = await prepareRequest(given, watcher);
    for await (const event of model.getStreamedResponse(request)) {
      if (!isDone(event)) yield event;
      else {
        const output = adaptOutput(event.response.output, request, watcher);
        yield { ...event, response: { ...event.response, output } };
      }
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

function adaptOutput(
  output: readonly object[],
  request: AgentsRequest,
  { isOwn, onUnknownCall }: CallWatcher,
): object[] {
  const { input, tools, handoffs, previousResponseId, conversationId } = request;
  // Where the provider keeps the conversation, it knows a call by the id that it gave.
  const keepsIds = previousResponseId !== undefined || conversationId !== undefined;
  const used = new Set(listCalls(input).map(({ callId }) => callId));
  const offered = new Set([
    ...tools.map(({ name }) => name),
    ...handoffs.map(({ toolName }) => toolName),
  ]);
  return output.map((item) => {
    if (!isCall(item)) return item;
    const { name } = item;
    const isFree = item.callId !== "" && !used.has(item.callId);
    const callId = isFree || keepsIds ? item.callId : `call_${randomUUID()}`;
    used.add(callId);
    if (!isOwn(name) && !offered.has(name))
      onUnknownCall({ id: callId, name, arguments: item.arguments });
    const packed = isOwn(name) ? packArguments(item.arguments) : item.arguments;
    return { ...item, callId, arguments: packed };
  });
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
