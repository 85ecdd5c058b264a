// A model provider on this machine, for hosts that are to be seen at work without one: it speaks the wire format each
// host uses, plays what it is told to, and remembers what the host sent.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropicMessages } from "./wire-anthropic.ts";
import { geminiContent } from "./wire-gemini.ts";
import { openaiChat, openaiResponses } from "./wire-openai.ts";
import type { Play, SeenRequest, WireFormat } from "./wire-format.ts";

export interface ModelEndpoint {
  /** Without a path. */
  readonly url: string;
  /** What was asked of the model, in order. */
  readonly requests: readonly SeenRequest[];
  /** What came and was no request to a model, as "METHOD path". */
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
      response.writeHead(500).end();
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
    const body = JSON.parse(await textOf(request)) as Record<string, unknown>;
    const seen = { ...format.read(body), format: format.name };
    requests.push(seen);
    const reply = play(seen);
    const { type, text } = format.write(reply, { body, path });
    response.writeHead(200, { "content-type": type });
    response.end(text);
  }
}

const JSON_TYPE = { "content-type": "application/json" };

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
