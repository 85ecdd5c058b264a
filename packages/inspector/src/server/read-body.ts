// The body of a request: JSON, not too long, and not too slow in coming.

import type { IncomingMessage } from "node:http";
import { InspectorError } from "./ports.ts";

export const MOST_BODY_BYTES = 1024 * 1024;

export async function readBody(request: IncomingMessage, withinMs: number): Promise<unknown> {
  // A form of another page can send any text, but not with this type (unless we would agree).
  if (!/^application\/json *(?:;|$)/iu.test(request.headers["content-type"] ?? "")) {
    throw new InspectorError("bad_request", "The body must be of the type application/json.", {
      status: 415,
    });
  }
  const text = await readText(request, withinMs);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InspectorError("bad_request", "The body is not JSON.");
  }
}

function readText(request: IncomingMessage, withinMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const late = setTimeout(() => {
      end(
        new InspectorError("bad_request", "The body did not come in time; send it again.", {
          status: 408,
        }),
      );
    }, withinMs);
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > MOST_BODY_BYTES) {
        end(
          new InspectorError(
            "too_large",
            `A body may have ${MOST_BODY_BYTES} bytes, and this one is longer.`,
          ),
        );
      }
    };
    const ended = (): void => end();
    const broken = (): void => end(new InspectorError("bad_request", "The body ended half-way."));
    request.on("data", take).once("end", ended).once("error", broken).once("close", broken);

    function end(error?: InspectorError): void {
      clearTimeout(late);
      request.off("data", take).off("end", ended).off("close", broken);
      if (error === undefined) resolve(Buffer.concat(chunks).toString("utf8"));
      else reject(error);
    }
  });
}
