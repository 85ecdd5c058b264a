// One request of OTLP over HTTP, and what its answer means by the specification. Never throws; what it says of a failure
// has no address, header or text of the collector in it.

import type { Clock } from "@soong/core";
import { isRecord } from "@soong/schema";
import type { OtlpTarget } from "./telemetry-settings.ts";

export type PostOutcome =
  /** `rejected`: how many records the collector took the request without. */
  | { readonly kind: "accepted"; readonly rejected: number }
  /** It may work later. `afterMs`: the collector's own wish. */
  | { readonly kind: "later"; readonly why: string; readonly afterMs?: number }
  | { readonly kind: "unreachable"; readonly why: string }
  | { readonly kind: "refused"; readonly why: string };

export interface PostPorts {
  readonly clock: Pick<Clock, "after">;
  readonly fetch: typeof fetch;
}

/** By the specification; any other status than these is final. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** An answer is a few bytes; more of it is not read. */
const MOST_ANSWER_BYTES = 64 * 1024;

export async function postOtlp(
  target: OtlpTarget,
  body: string,
  signal: AbortSignal,
  ports: PostPorts,
): Promise<PostOutcome> {
  const ending = new AbortController();
  const abort = (): void => ending.abort();
  const forget = ports.clock.after(target.timeoutMs, abort);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    const answer = await ports.fetch(target.url, {
      method: "POST",
      headers: { ...target.headers, "content-type": "application/json" },
      body,
      // Headers that authorize must not follow to another host.
      redirect: "manual",
      signal: ending.signal,
    });
    const { status } = answer;
    if (answer.ok) return { kind: "accepted", rejected: countRejected(await readAnswer(answer)) };
    await answer.body?.cancel();
    const why = `HTTP ${status}`;
    if (!RETRYABLE.has(status)) return { kind: "refused", why };
    const seconds = Number(answer.headers.get("retry-after") ?? Number.NaN);
    return seconds >= 0 ? { kind: "later", why, afterMs: seconds * 1000 } : { kind: "later", why };
  } catch (error) {
    return {
      kind: "unreachable",
      why: ending.signal.aborted ? "no answer in time" : nameFailure(error),
    };
  } finally {
    forget();
    signal.removeEventListener("abort", abort);
  }
}

async function readAnswer(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  if (answer.body === null) return text;
  for await (const bytes of answer.body as AsyncIterable<Uint8Array>) {
    size += bytes.byteLength;
    // Leaving the loop cancels the rest.
    if (size > MOST_ANSWER_BYTES) return "";
    text += decoder.decode(bytes, { stream: true });
  }
  return text;
}

/** Of `partialSuccess`. An answer that cannot be read says nothing: the request was accepted. */
function countRejected(text: string): number {
  if (!text.includes("partialSuccess")) return 0;
  try {
    const answer: unknown = JSON.parse(text);
    const partial: unknown = isRecord(answer) ? answer["partialSuccess"] : undefined;
    if (!isRecord(partial)) return 0;
    const rejected = Number(partial["rejectedSpans"] ?? partial["rejectedDataPoints"] ?? 0);
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
  } catch {
    return 0;
  }
}

/** The code of a system error, such as ECONNREFUSED; its message would repeat the address. */
function nameFailure(error: unknown): string {
  for (let at: unknown = error; isErrorLike(at); at = at.cause) {
    if (typeof at.code !== "string" || !/^[A-Z_]{3,40}$/.test(at.code)) continue;
    const words = FAILURES.get(at.code);
    if (words !== undefined) return words;
    if (!at.code.startsWith("UND_ERR")) return at.code;
  }
  return "no connection";
}

/** In plain words, where the code is one of the HTTP client or does not say it. */
const FAILURES: ReadonlyMap<string, string> = new Map([
  ["UND_ERR_SOCKET", "the connection was closed"],
  ["ECONNRESET", "the connection was closed"],
  ["EPIPE", "the connection was closed"],
  ["UND_ERR_CONNECT_TIMEOUT", "no answer in time"],
  ["UND_ERR_HEADERS_TIMEOUT", "no answer in time"],
  ["UND_ERR_BODY_TIMEOUT", "no answer in time"],
]);

function isErrorLike(
  value: unknown,
): value is { readonly code?: unknown; readonly cause?: unknown } {
  return typeof value === "object" && value !== null;
}
