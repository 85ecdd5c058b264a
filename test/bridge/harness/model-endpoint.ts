// A model provider on this machine, for loops and hosts that are to be seen at work without one: it speaks the wire
// format that each of them uses, plays what it is given, and records what was sent.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { anthropicMessages } from "./wire-anthropic.ts";
import { geminiContent } from "./wire-gemini.ts";
import { openaiChat, openaiResponses } from "./wire-openai.ts";
import type { Play, Reply, SeenRequest, WireAnswer, WireFormat } from "./wire-format.ts";

export interface ModelEndpoint {
  /** Without a path. */
  readonly url: string;
  /** What the model was sent, in order. */
  readonly requests: readonly SeenRequest[];
  /** Requests that were none to a model, as "METHOD path". */
  readonly strays: readonly string[];
  close(): Promise<void>;
}

const FORMATS: readonly WireFormat[] = [
  anthropicMessages,
  geminiContent,
  openaiResponses,
  openaiChat,
];

export async function openModelEndpoint(play: Play): Promise<ModelEndpoint> {
  const requests: SeenRequest[] = [];
  const strays: string[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      strays.push(`${request.method} ${request.url}: ${String(error)}`);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    strays,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const format = FORMATS.find((one) => request.method === "POST" && one.path.test(path));
    if (format === undefined) {
      strays.push(`${request.method} ${path}`);
      // An empty list where models are listed, and nothing anywhere else.
      response.writeHead(path.endsWith("/models") ? 200 : 404, JSON_TYPE);
      response.end(JSON.stringify({ object: "list", data: [], models: [] }));
      return;
    }
    const body = JSON.parse(await readBody(request)) as Record<string, unknown>;
    const seen = { ...format.read(body), format: format.name };
    requests.push(seen);
    const reply = play(seen);
    await send(format.write(reply, { body, path }), reply, response);
  }
}

async function send(answer: WireAnswer, reply: Reply, response: ServerResponse): Promise<void> {
  if (answer.kind === "whole") {
    response.writeHead(200, JSON_TYPE).end(JSON.stringify(answer.body));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(answer.opening);
  for (const [at, call] of answer.calls.entries()) {
    if (at > 0 && reply.pauseMs !== undefined) await wait(reply.pauseMs);
    response.write(call);
  }
  if (reply.breaksOff !== true) {
    response.end(answer.closing);
    return;
  }
  // Clients drop what they have not read when a connection is cut.
  await wait(CUT_AFTER_MS);
  // Without the last chunk of the body.
  response.socket?.end();
}

const CUT_AFTER_MS = 200;

const JSON_TYPE = { "content-type": "application/json" };

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
