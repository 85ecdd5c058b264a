// A real provider package in front of a replayed stream: what the tests of this folder ask their questions at.

import { onTestFinished } from "vitest";
import {
  openModel,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  type ProviderModel,
} from "@soong/agent";
import { anthropicWire } from "./anthropic-wire.ts";
import { compatibleWire } from "./compatible-wire.ts";
import { googleWire } from "./google-wire.ts";
import { openaiWire } from "./openai-wire.ts";
import { events, startReplayServer, type ReplayServer } from "./replay-server.ts";
import { answer, type Wire } from "./wire.ts";

export const WIRES = [anthropicWire, openaiWire, compatibleWire, googleWire];

/** In the form of no known provider, so that only its being known hides it. */
export const KEY = "plain-looking-key-of-the-test";

export interface ProviderDesk {
  readonly server: ReplayServer;
  readonly model: ProviderModel;
  readonly ask: (request?: Partial<ModelRequest>, signal?: AbortSignal) => Promise<ModelEvent[]>;
}

export async function openDesk(wire: Wire): Promise<ProviderDesk> {
  const server = await startReplayServer();
  onTestFinished(() => server.close());
  const model = await openModel(wire.name, {
    env: { [wire.keyVariable]: KEY },
    baseURL: server.url + wire.prefix,
  });
  return {
    server,
    model,
    ask: (request, signal) => collect(model.stream(requestOf(request), signal ?? never())),
  };
}

export function requestOf(request: Partial<ModelRequest> = {}): ModelRequest {
  return {
    index: 1,
    system: ["Be careful."],
    messages: [{ role: "user", content: [{ type: "text", text: "Look around." }] }],
    tools: [LIST_FILES],
    ...request,
  };
}

export const LIST_FILES = {
  name: "core__list_files",
  description: "Lists the files of a folder.",
  input_schema: {
    type: "object",
    properties: { path: { type: "string" }, depth: { type: "integer" } },
    required: ["path"],
    additionalProperties: false,
  },
};

export interface Sent {
  readonly path: string;
  readonly key: string;
  /** As it was sent; a test says what it expects it to look like. */
  readonly body: unknown;
}

/** What the provider receives of a conversation; it answers with nothing. */
export async function send(
  { server, ask }: ProviderDesk,
  wire: Wire,
  messages: readonly ModelMessage[],
): Promise<Sent> {
  server.reply(events(...answer(wire, [], "end")));
  const system = ["Be careful.", "", "Be brief."];
  const seen = await ask({ system, messages, max_output_tokens: 512 });
  const received = server.requests.at(-1);
  if (received === undefined || lastOf(seen).type !== "completed") {
    throw new Error(`It did not go through: ${JSON.stringify(seen)}`);
  }
  const { path, headers, body } = received;
  const key = headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers.authorization;
  return { path, key: String(key), body };
}

export async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

export function never(): AbortSignal {
  return new AbortController().signal;
}

export function callsOf(events: readonly ModelEvent[]) {
  return events
    .filter((event) => event.type === "call_complete")
    .map(({ id, name, arguments: given }) => ({ id, name, arguments: given }));
}

export function lastOf(events: readonly ModelEvent[]): ModelEvent {
  const last = events.at(-1);
  if (last === undefined) throw new Error("The stream was empty");
  return last;
}

export function errorOf(events: readonly ModelEvent[]) {
  const last = lastOf(events);
  if (last.type !== "failed") throw new Error(`The stream ended in ${JSON.stringify(last)}`);
  return last.error;
}
