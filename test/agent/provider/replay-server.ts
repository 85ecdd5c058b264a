// A provider on this machine: an HTTP server on a free port that answers each request with the next reply it
// was given, and keeps the requests for the test to look at.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type Reply = (response: ServerResponse) => Promise<void> | void;

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
}

export interface ReplayServer {
  readonly url: string;
  readonly requests: readonly Received[];
  reply(...replies: Reply[]): void;
  /** Resolves when the reply to the first request has been begun. */
  readonly answering: Promise<void>;
  /** Resolves when a connection that was answered has been closed by the other side. */
  readonly hungUp: Promise<void>;
  close(): Promise<void>;
}

export async function startReplayServer(): Promise<ReplayServer> {
  const requests: Received[] = [];
  const replies: Reply[] = [];
  let noteHangUp = () => {};
  const hungUp = new Promise<void>((resolve) => {
    noteHangUp = resolve;
  });
  let noteAnswer = () => {};
  const answering = new Promise<void>((resolve) => {
    noteAnswer = resolve;
  });
  const server = createServer((request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) noteHangUp();
    });
    void answer(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as Record<string, unknown>;
    requests.push({ path: request.url ?? "", headers: request.headers, body });
    const reply = replies.shift() ?? status(500, "no reply left");
    const replied = reply(response);
    noteAnswer();
    await replied;
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answering,
    hungUp,
    reply: (...more) => void replies.push(...more),
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** A whole stream of events, ended properly. */
export function events(...frames: readonly string[]): Reply {
  return async (response) => {
    await write(response, frames);
    response.end();
  };
}

/** Some events, then the connection breaks. */
export function cut(...frames: readonly string[]): Reply {
  return async (response) => {
    await write(response, frames);
    response.destroy();
  };
}

/** Some events, then nothing for ever. */
export function hang(...frames: readonly string[]): Reply {
  return (response) => write(response, frames);
}

/** Some events, then the same piece over and over, as fast as it is read. */
export function endless(piece: string, ...frames: readonly string[]): Reply {
  return async (response) => {
    await write(response, frames);
    while (!response.destroyed) {
      await new Promise<void>((resolve) => {
        response.write(piece, () => setImmediate(resolve));
      });
    }
  };
}

/** Some events, and the rest once the gate opens. */
export function inTwo(
  before: readonly string[],
  gate: Promise<void>,
  after: readonly string[],
): Reply {
  return async (response) => {
    await write(response, before);
    await gate;
    await write(response, after);
    response.end();
  };
}

export function status(
  code: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return (response) => {
    response.writeHead(code, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

function write(response: ServerResponse, frames: readonly string[]): Promise<void> {
  if (!response.headersSent) {
    response.writeHead(200, { "content-type": "text/event-stream" });
  }
  return new Promise((resolve) => {
    response.write(frames.join("") || ": nothing yet\n\n", () => resolve());
  });
}
