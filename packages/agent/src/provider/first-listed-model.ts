// Which model of an OpenAI-compatible server is used where none is named: the first listed one that can chat.

import { messageOf } from "@soong/core";

export interface ListingServer {
  readonly baseURL: string;
  readonly apiKey?: string;
  readonly fetch?: typeof fetch;
}

/** Throws an error that says what to do. */
export async function findFirstListedModel(server: ListingServer): Promise<string> {
  const url = `${server.baseURL.replace(/\/+$/, "")}/models`;
  const listed = await listModels(url, server);
  const first = "ids" in listed ? listed.ids.find(canTalk) : undefined;
  if (first !== undefined) return first;
  const why = "why" in listed ? listed.why : "it lists none that answers prompts";
  throw new Error(`No model could be chosen at ${url}: ${why}. Name one with SOONG_MODEL.`);
}

async function listModels(
  url: string,
  { apiKey, fetch: ask = fetch }: ListingServer,
): Promise<{ readonly ids: string[] } | { readonly why: string }> {
  try {
    const response = await ask(url, {
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    if (!response.ok) return { why: `it answered with ${response.status}` };
    return { ids: readModelIds(await response.json()) };
  } catch (error) {
    return { why: describeFetchError(error) };
  }
}

function canTalk(id: string): boolean {
  return PLAIN.test(id) && !NO_TALK.test(id);
}

const LONGEST_MS = 10_000;
/** Nothing that could disturb a screen or a record. */
const PLAIN = /^[\x21-\x7e]{1,200}$/;
const NO_TALK = /embed|rerank|whisper|tts|dall-e|moderation/i;

function readModelIds(listed: unknown): string[] {
  const { data } = (listed ?? {}) as { readonly data?: unknown };
  if (!Array.isArray(data)) return [];
  return data.flatMap((entry: unknown) => {
    const { id } = (entry ?? {}) as { readonly id?: unknown };
    return typeof id === "string" ? [id] : [];
  });
}

/** What is under a failed fetch says more than the fetch does. */
function describeFetchError(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  if (cause?.code === "ECONNREFUSED") return "nothing listens there";
  return messageOf(error).replace(/\.$/, "");
}
