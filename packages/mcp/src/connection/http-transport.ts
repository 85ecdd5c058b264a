// A server at an address: the SDK's streamable HTTP, with bounds on what it reads. Redirects stay within
// the origin (the SDK's own rule), so that no header of the entry reaches another host.

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { LineTooLong } from "@soong/platform";
import type { AccessTokens } from "../authorization/index.ts";

const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

export function createHttpTransport(options: {
  url: string;
  headers: Readonly<Record<string, string>>;
  tokens: AccessTokens | undefined;
}): StreamableHTTPClientTransport {
  const { tokens } = options;
  return new StreamableHTTPClientTransport(new URL(options.url), {
    requestInit: { headers: { ...options.headers } },
    redirectPolicy: "same-origin",
    onInsufficientScope: "throw",
    authProvider: tokens,
    fetch: async (url, init) => {
      const response = bounded(await fetch(url, init));
      await tokens?.noteAnswer(response, new Headers(init?.headers).get("authorization"));
      return response;
    },
    reconnectionOptions: {
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 5,
    },
  });
}

/** Of a stream of events each event counts alone: as a whole it has no end. */
function bounded(response: Response): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
  const sizeWith = isStream ? createEventMeter() : createMeter();
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      if (sizeWith(bytes) > MAX_MESSAGE_BYTES) controller.error(new LineTooLong(MAX_MESSAGE_BYTES));
      else controller.enqueue(bytes);
    },
  });
  const { status, statusText, headers } = response;
  const copy = new Response(response.body.pipeThrough(bound), { status, statusText, headers });
  // A copy has no address of its own; the SDK judges redirects by it.
  Object.defineProperty(copy, "url", { value: response.url });
  Object.defineProperty(copy, "redirected", { value: response.redirected });
  return copy;
}

/** How long it is with these bytes. */
type Meter = (bytes: Uint8Array) => number;

function createMeter(): Meter {
  let size = 0;
  return (bytes) => (size += bytes.length);
}

/** Of the event that has not ended: an empty line ends it, and the reader keeps its lines until then. */
function createEventMeter(): Meter {
  let size = 0;
  let last: Buffer = Buffer.alloc(0);
  return (bytes) => {
    const seen = Buffer.concat([last, bytes]);
    const end = Math.max(seen.lastIndexOf("\n\n"), seen.lastIndexOf("\n\r\n"));
    size = end === -1 ? size + bytes.length : seen.length - end;
    last = seen.subarray(-2);
    return size;
  };
}
