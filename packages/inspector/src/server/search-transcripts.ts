// Plain text in all conversations, newest first, as far back as one request looks. Each step looks at a bounded number of
// messages, and between two of them others work and the caller may have left.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { ConversationNode } from "@soong/core";
import type { FoundNode, Store } from "@soong/store";
import type { TranscriptHit, TranscriptSearch } from "../wire/overview-records.ts";
import { MARGIN, type Redact } from "./safe-cut.ts";

const HITS = 20;
const STEP = 2000;
export const MOST_STEPS = 10;
const CHARS_BEFORE = 80;
const CHARS_AFTER = 200;

export type SearchedStore = Pick<Store, "searchNodes" | "readSession">;

export interface SearchAsked {
  readonly text: string;
  readonly before: number | undefined;
  readonly redact: Redact;
  readonly signal: AbortSignal;
}

export async function searchTranscripts(
  store: SearchedStore,
  { text, redact, signal, ...asked }: SearchAsked,
): Promise<TranscriptSearch> {
  const sessions = createSessionNames(store);
  const hits: TranscriptHit[] = [];
  let { before } = asked;
  let searched_to: string | undefined;
  for (let step = 0; step < MOST_STEPS && hits.length < HITS; step += 1) {
    const page = await store.searchNodes(text, { limit: HITS - hits.length, most: STEP, before });
    for (const found of page.found) {
      const excerpt = cutExcerpt(found, text, redact);
      if (excerpt === undefined) continue;
      hits.push({ ...describeHit(found), ...(await sessions(found.session_id)), ...excerpt });
    }
    ({ searched_to = searched_to, next: before } = page);
    if (before === undefined) return { hits, searched_to };
    await nextTurn();
    signal.throwIfAborted();
  }
  return { hits, searched_to, next: String(before) };
}

function describeHit({ session_id, node, time, tool_name }: FoundNode) {
  const { run_id, node_id, tool_call_id } = node;
  return { session_id, run_id, node_id, time, who: findSpeaker(node), tool_call_id, tool_name };
}

function findSpeaker({ kind, data }: ConversationNode): TranscriptHit["who"] {
  if (kind === "tool_result" || kind === "child_result") return "tool";
  if (kind !== "message") return "context";
  return data?.["role"] === "assistant" ? "model" : "user";
}

/**
 * The line of the text. Secrets are hidden before anything is cut: half of one is not recognised. Undefined where the text
 * was part of one.
 */
export function cutExcerpt(
  { text, at }: Pick<FoundNode, "text" | "at">,
  wanted: string,
  redact: Redact,
): Pick<TranscriptHit, "before" | "match" | "after"> | undefined {
  const around = redact(text.slice(Math.max(0, at - MARGIN), at + wanted.length + MARGIN));
  const place = around.toLowerCase().indexOf(wanted.toLowerCase());
  if (place === -1) return undefined;
  const end = place + wanted.length;
  const lineStart = around.lastIndexOf("\n", place - 1) + 1;
  const start = place === 0 ? 0 : Math.max(lineStart, place - CHARS_BEFORE);
  const [line = ""] = around.slice(end, end + CHARS_AFTER).split("\n", 1);
  const isCut = line.length === CHARS_AFTER;
  return {
    before: `${start > lineStart ? "…" : ""}${around.slice(start, place)}`,
    match: around.slice(place, end),
    after: isCut ? `${line}…` : line,
  };
}

/** Each session is asked for its name once. */
function createSessionNames(store: SearchedStore) {
  const names = new Map<string, Pick<TranscriptHit, "title" | "project">>();
  return async (session_id: string) => {
    const known = names.get(session_id);
    if (known !== undefined) return known;
    const { title, project } = await (await store.readSession(session_id)).record();
    const name = { title, project };
    names.set(session_id, name);
    return name;
  };
}
