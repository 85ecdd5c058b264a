// A model as the SDK takes it, whose answers the SDK cannot choke on: each call has arguments that are an object and an id of its
// own. The SDK ends a run at a repeated id, and takes one that was approved before as approved.

import { randomUUID } from "node:crypto";
import {
  packArguments,
  unpackArguments,
  type OfferedNames,
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
  /** The schemas of the bridge's tools, as the SDK has them, by name. Calls of other tools get their arguments as they are. */
  readonly schemas: ReadonlyMap<string, object>;
  /** Before each request. */
  readonly readNames: () => Promise<OfferedNames>;
  /** The model called a tool that the request did not contain. */
  readonly onStrayCall: (call: SeenCall) => void;
  /** Before each request, with the calls in its conversation. */
  readonly onRequest: (calls: readonly SeenCall[]) => Promise<void>;
  /** For each answer that streams. */
  readonly openAnswer: (signal: AbortSignal | undefined) => OpenAnswer;
}

type OpenAnswer = Pick<StreamedAnswer, "push" | "completeWith" | "drop">;

export function wrapModel<M extends AgentsModel>(model: M, watcher: CallWatcher): M {
  const getResponse: AgentsModel["getResponse"] = async (given) => {
    const { request, nameTool } = await prepareRequest(given, watcher);
    const response = await model.getResponse(request);
    const { output } = adaptOutput(response.output, request, { ...watcher, nameTool });
    return { ...response, output };
  };
  const getStreamedResponse: AgentsModel["getStreamedResponse"] = async function* (given) {
    const { request, nameTool } = await prepareRequest(given, watcher);
    const early = watcher.openAnswer(request.signal);
    const reader = { ...watcher, nameTool };
    const startCall = createStarter(request, reader, early);
    try {
      for await (const event of model.getStreamedResponse(request)) {
        if (!isDone(event)) {
          startCall(event);
          yield event;
        } else {
          const { output, own } = adaptOutput(event.response.output, request, reader);
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

/** The offered name of the tool that the model means; undefined if that was not offered. */
type NameTool = (given: string) => string | undefined;

interface AnswerReader extends CallWatcher {
  readonly nameTool: NameTool;
}

/** Starts calls as they come. From the first one on whose id will be replaced, they wait for the end of the answer. */
function createStarter(
  { input }: AgentsRequest,
  { schemas, nameTool }: AnswerReader,
  early: OpenAnswer,
): (event: object) => void {
  const used = new Set(listCalls(input).map(({ callId }) => callId));
  let isWaiting = false;
  return (event) => {
    const call = readRawCall(event);
    if (call === undefined) return;
    isWaiting ||= call.id === "" || used.has(call.id);
    used.add(call.id);
    const name = nameTool(call.name);
    if (!isWaiting && name !== undefined && schemas.has(name)) early.push({ ...call, name });
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
  { schemas, nameTool, onStrayCall }: AnswerReader,
): AdaptedOutput {
  const { input, previousResponseId, conversationId } = request;
  // Where the provider keeps the conversation, it knows a call by the id that it gave.
  const keepsIds = previousResponseId !== undefined || conversationId !== undefined;
  const used = new Set(listCalls(input).map(({ callId }) => callId));
  const own: StreamedCall[] = [];
  const output = given.map((item) => {
    if (!isCall(item)) return item;
    const offered = nameTool(item.name);
    const name = offered ?? item.name;
    const isFree = item.callId !== "" && !used.has(item.callId);
    const callId = isFree || keepsIds ? item.callId : `call_${randomUUID()}`;
    used.add(callId);
    const call = { id: callId, name, arguments: item.arguments };
    if (offered === undefined) onStrayCall(call);
    else if (schemas.has(name)) own.push(call);
    const packed = schemas.has(name) ? packArguments(item.arguments) : item.arguments;
    return { ...item, name, callId, arguments: packed };
  });
  return { output, own };
}

interface PreparedRequest {
  readonly request: AgentsRequest;
  readonly nameTool: NameTool;
}

async function prepareRequest(
  given: AgentsRequest,
  { schemas, readNames, onRequest }: CallWatcher,
): Promise<PreparedRequest> {
  checkNames(given, schemas);
  const { loaded, findWireName } = await readNames();
  const tools = given.tools.filter(({ name }) => !schemas.has(name) || loaded.includes(name));
  const request = restoreInput({ ...given, tools });
  const calls = listCalls(request.input);
  await onRequest(
    calls.map(({ callId, name, arguments: text }) => ({ id: callId, name, arguments: text })),
  );
  const handoffs = request.handoffs.map(({ toolName }) => toolName);
  const offered = new Set([...tools.map(({ name }) => name), ...handoffs]);
  const nameTool: NameTool = (name) =>
    [name, findWireName(name)].find((one) => one !== undefined && offered.has(one));
  return { request, nameTool };
}

/** Which of two tools runs would be left to chance. */
function checkNames({ tools }: AgentsRequest, schemas: CallWatcher["schemas"]): void {
  for (const { name, parameters } of tools) {
    const own = schemas.get(name);
    if (own === undefined || own === parameters) continue;
    throw new Error(
      `The agent has a tool ${name} that is not the one of this bridge. Rename it, and take tools and model from the same bridge.`,
    );
  }
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
