// The gateway for one client over a pipe (GATE-1): the client ends it by closing its side. A line that is no message is
// answered with what is wrong with it, one that is too long is omitted, and neither ends the connection. Nothing else is
// written.

import type { Readable, Writable } from "node:stream";
import {
  INVALID_REQUEST,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { followListened } from "./client-relay.ts";
import type { ClientNews } from "./client.ts";
import type { GatewayOptions } from "./client-runs.ts";
import { openGateway } from "./gateway.ts";
import { announce, createProtocolServer, readMessageId } from "./protocol-server.ts";

export interface GatewayStdioOptions extends GatewayOptions {
  readonly input?: Readable;
  /** Nothing but protocol may be written to it by anyone. */
  readonly output?: Writable;
}

export interface ServedStdio {
  /** The client is gone, its calls have ended and its run is closed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export function serveGatewayStdio(options: GatewayStdioOptions): ServedStdio {
  const gateway = openGateway(options);
  const { input = process.stdin, output = process.stdout } = options;
  let disconnected: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    disconnected = () => {
      gateway.close("the client has disconnected").then(resolve, resolve);
    };
  });
  const followed = new Map<unknown, () => void>();
  const transport = createLineTransport(input, output, () => disconnected(), follow);
  let tell = (_news: ClientNews): void => {};
  // A probe for the newer protocol may be thrown away for the older: both are the same client.
  const client = gateway.client((news) => tell(news));
  const handle = serveStdio(
    async ({ era }) => {
      await client.ready();
      const mcp = createProtocolServer(client, era, options.server);
      tell = (news) => announce(mcp, news);
      return mcp;
    },
    { transport, onerror: (error) => options.onError?.(error) },
  );
  return {
    ended,
    async close() {
      await handle.close();
      await transport.close();
      await ended;
    },
  };

  function follow(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    const unfollow = followListened(message, client.relay);
    if ("id" in message && unfollow !== undefined) followed.set(message.id, unfollow);
    if (message.method === "notifications/cancelled") {
      followed.get(message.params?.["requestId"])?.();
    }
  }
}

const MAX_LINE_BYTES = 4 * 1024 * 1024;
const MAX_UNANSWERED = 4_096;
const NEW_LINE = 10;

function createLineTransport(
  input: Readable,
  output: Writable,
  ended: () => void,
  seen: (message: JSONRPCMessage) => void = () => {},
): Transport {
  const unanswered = new Set<RequestId>();
  let pieces: Buffer[] = [];
  let length = 0;
  let isTooLong = false;
  let isClosed = false;

  const transport: Transport = {
    async start() {
      input.on("data", take);
      input.on("end", end);
      input.on("close", end);
      input.on("error", end);
      output.on("error", end);
      if (input.readableEnded || input.destroyed) setImmediate(end);
    },
    async send(message) {
      if (!("method" in message) && message.id !== undefined) unanswered.delete(message.id);
      await write(message);
    },
    async close() {
      end();
    },
  };
  return transport;

  function take(chunk: Buffer): void {
    for (let from = 0; from < chunk.length;) {
      const at = chunk.indexOf(NEW_LINE, from);
      keep(chunk.subarray(from, at === -1 ? chunk.length : at));
      if (at === -1) return;
      from = at + 1;
      const line = Buffer.concat(pieces, length).toString("utf8");
      const wasTooLong = isTooLong;
      pieces = [];
      length = 0;
      isTooLong = false;
      if (wasTooLong) refuse(null, INVALID_REQUEST, `a message may have ${MAX_LINE_BYTES} bytes`);
      else if (line.trim() !== "") read(line);
    }
  }

  function keep(piece: Buffer): void {
    isTooLong ||= length + piece.length > MAX_LINE_BYTES;
    if (isTooLong) {
      pieces = [];
      length = 0;
    } else {
      pieces.push(piece);
      length += piece.length;
    }
  }

  function read(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      refuse(null, PARSE_ERROR, "the line is not JSON; send one JSON-RPC message a line");
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      refuse(
        readMessageId(value),
        INVALID_REQUEST,
        "the line is JSON, but no JSON-RPC 2.0 message",
      );
      return;
    }
    if ("method" in message && "id" in message) {
      const { id } = message;
      if (unanswered.has(id)) {
        refuse(null, INVALID_REQUEST, `the id ${JSON.stringify(id)} is that of an open request`);
        return;
      }
      if (unanswered.size >= MAX_UNANSWERED) {
        refuse(id, INVALID_REQUEST, `${MAX_UNANSWERED} requests are open; wait for some of them`);
        return;
      }
      unanswered.add(id);
    } else if ("method" in message && message.method === "notifications/cancelled") {
      const cancelled = message.params?.["requestId"];
      // It is not answered any more.
      if (typeof cancelled === "string" || typeof cancelled === "number")
        unanswered.delete(cancelled);
    }
    seen(message);
    transport.onmessage?.(message);
  }

  /** Without an id of its own an error belongs to no request, so it cannot be taken for a result. */
  function refuse(id: RequestId | null, code: number, message: string): void {
    write({ jsonrpc: "2.0", id, error: { code, message } }).catch(() => {});
  }

  function write(message: object): Promise<void> {
    if (isClosed) return Promise.reject(new Error("the connection is closed"));
    return new Promise((resolve, reject) => {
      output.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error === null || error === undefined) resolve();
        else reject(error);
      });
    });
  }

  function end(): void {
    if (isClosed) return;
    isClosed = true;
    input.off("data", take);
    input.pause();
    pieces = [];
    unanswered.clear();
    transport.onclose?.();
    ended();
  }
}
