// One GET: to the very address that was looked up and found to be open, so that no second answer of the name server counts;
// unpacked and read up to a bound.

import type { LookupAddress } from "node:dns";
import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createInflate, createUnzip } from "node:zlib";
import { ToolFailure, messageOf } from "@soong/core";
import { isPrivateAddress, lookUpOpen } from "@soong/platform";
import { describePrivate } from "./address.ts";

export interface RequestOptions {
  readonly signal: AbortSignal;
  readonly mayReachPrivate: (host: string) => boolean;
}

export async function requestPage(url: URL, options: RequestOptions): Promise<IncomingMessage> {
  const { signal } = options;
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = send(url, {
        method: "GET",
        // A connection of its own: none is kept, so none is used that was made for another call.
        agent: false,
        signal,
        maxHeaderSize: 64 * 1024,
        lookup: lookUpOpen((found) =>
          isPrivateAddress(found.address) && !options.mayReachPrivate(url.hostname)
            ? privateHost(url.hostname, found)
            : undefined,
        ),
        headers: {
          accept:
            "text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.9,*/*;q=0.5",
          "accept-encoding": "gzip, deflate, br",
          "user-agent": "soong (web.fetch)",
        },
      });
      // Nothing else is spoken: an answer in another protocol would be waited for in vain.
      sent.once("upgrade", (_, socket) => {
        socket.destroy();
        reject(new Error("it answers in another protocol"));
      });
      sent.once("response", resolve).once("error", reject).end();
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ToolFailure ? error : unreachable(url, error);
  }
}

function privateHost(host: string, { address }: LookupAddress): ToolFailure {
  return new ToolFailure({
    code: "private_address",
    error_class: "policy_blocked",
    message: describePrivate(host, address),
    recovery: "ask_the_user",
  });
}

function unreachable(url: URL, error: unknown): ToolFailure {
  const { code } = error as NodeJS.ErrnoException;
  const why = CAUSES[code ?? ""] ?? messageOf(error);
  return new ToolFailure({
    code: "unreachable",
    error_class: "dependency_unavailable",
    message: `${url.origin} cannot be reached: ${why}.`,
    retryable: code !== "ENOTFOUND",
    recovery: code === "ENOTFOUND" ? "change_arguments" : "retry_after_delay",
  });
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOTFOUND: "there is no host of that name",
  EAI_AGAIN: "its name cannot be looked up at the moment",
  ECONNREFUSED: "nothing answers at that port",
  ECONNRESET: "it broke the connection off",
  ETIMEDOUT: "it does not answer",
  ENETUNREACH: "there is no way to its network",
  EHOSTUNREACH: "there is no way to it",
  HPE_HEADER_OVERFLOW: "its headers are too long",
};

export interface Body {
  readonly bytes: Buffer;
  /** There was more than the bound. */
  readonly isCut: boolean;
}

/** Unpacked; what follows the bound is not received. */
export async function readBody(
  response: IncomingMessage,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Body> {
  const chunks: Buffer[] = [];
  let size = 0;
  const body = unpack(response);
  const stop = (): void => void response.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    // A page that breaks off is worth what there is of it.
    if (size === 0) {
      const message = `The answer cannot be read: ${messageOf(error)}.`;
      throw new ToolFailure({ code: "unreadable", error_class: "dependency_unavailable", message });
    }
    return { bytes: Buffer.concat(chunks), isCut: true };
  } finally {
    signal.removeEventListener("abort", stop);
    response.destroy();
    body.destroy();
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isCut: size > maxBytes };
}

function unpack(response: IncomingMessage): Readable {
  const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase();
  const unpacker =
    encoding === "gzip" || encoding === "x-gzip"
      ? createUnzip()
      : encoding === "deflate"
        ? createInflate()
        : encoding === "br"
          ? createBrotliDecompress()
          : undefined;
  if (unpacker === undefined) return response;
  response.once("error", (error) => unpacker.destroy(error));
  return response.pipe(unpacker);
}
