// The answers that are being written, for those who follow them through a socket: sent a few times a second, word by word
// and without secrets. The journal has an answer when it is whole; this is for a screen, and costs little without one.

import { createRedactor, type KnownSecret } from "@soong/core";
import type { LiveText } from "./protocol.ts";

export type LiveTexts = ReturnType<typeof createLiveTexts>;

const SEND_MS = 60;
/** Of one answer: what is longer is seen when it is on record. */
const MOST_CHARS = 4 * 1024 * 1024;
/** Longer than any secret; also how much of a line without an end is looked at again. */
const MARGIN = 16 * 1024;

interface Answer {
  readonly run_id: string;
  readonly node_id: string;
  raw: string;
  /** Up to here `raw` is sent and stays as it was sent. */
  settledRaw: number;
  /** The same place in what was sent. */
  settledSent: number;
  /** What was sent behind that place. */
  tail: string;
  isChanged: boolean;
}

export function createLiveTexts(secrets: readonly KnownSecret[]) {
  const redactor = createRedactor({ secrets });
  const answers = new Map<string, Answer>();
  const followers = new Set<(text: LiveText) => void>();
  let timer: NodeJS.Timeout | undefined;

  return {
    /** Called by the loop with each piece. */
    add(this: void, run_id: string, node_id: string, text: string): void {
      let answer = answers.get(run_id);
      if (answer?.node_id !== node_id) {
        answer = {
          run_id,
          node_id,
          raw: "",
          settledRaw: 0,
          settledSent: 0,
          tail: "",
          isChanged: false,
        };
        answers.set(run_id, answer);
      }
      if (answer.raw.length > MOST_CHARS) return;
      answer.raw += text;
      answer.isChanged = true;
      if (followers.size > 0) timer ??= setTimeout(sendAll, SEND_MS).unref();
    },
    end(run_id: string): void {
      answers.delete(run_id);
    },
    /** Begins with what there is of open answers. The function ends it. */
    follow(follower: (text: LiveText) => void): () => void {
      // Then everyone has the same, and the same is sent to everyone.
      sendAll();
      for (const answer of answers.values()) {
        const { run_id, node_id, settledRaw, raw } = answer;
        const text = redactor.text(raw.slice(0, settledRaw)) + answer.tail;
        if (text !== "") follower({ run_id, node_id, offset: 0, text });
      }
      followers.add(follower);
      return () => void followers.delete(follower);
    },
  };

  function sendAll(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const answer of answers.values()) {
      if (!answer.isChanged) continue;
      answer.isChanged = false;
      send(answer);
    }
  }

  /** The open line is redacted again as a whole, for what its next word makes of it. */
  function send(answer: Answer): void {
    const { run_id, node_id, raw, settledRaw, settledSent } = answer;
    const end = findSafeEnd(raw, secrets);
    if (end <= settledRaw) return;
    const tail = redactor.text(raw.slice(settledRaw, end));
    const same = countSame(answer.tail, tail);
    if (same < tail.length || tail.length < answer.tail.length) {
      const text = { run_id, node_id, offset: settledSent + same, text: tail.slice(same) };
      for (const follower of followers) follower(text);
    }
    answer.tail = tail;
    const line = Math.max(raw.lastIndexOf("\n", end - 1) + 1, end - MARGIN);
    if (line <= settledRaw) return;
    const before = redactor.text(raw.slice(settledRaw, line));
    // A secret across the border: it is settled with a later line.
    if (!tail.startsWith(before)) return;
    answer.settledRaw = line;
    answer.settledSent += before.length;
    answer.tail = tail.slice(before.length);
  }
}

/** Where a text that continues may be cut: behind a word, and not within what may become a secret. */
export function findSafeEnd(text: string, secrets: readonly KnownSecret[]): number {
  let end = text.length;
  // Keys and tokens are of ASCII without spaces; other writing has words without any.
  if (!WORD_AT_END.test(text.slice(-LONGEST_WORD))) {
    while (end > 0 && isSecretChar(text.charCodeAt(end - 1))) end -= 1;
  }
  const from = Math.max(0, text.length - MARGIN);
  const key = text.lastIndexOf("-----BEGIN");
  if (key >= from && !text.includes("-----END", key)) end = Math.min(end, key);
  for (const { value } of secrets) {
    end = Math.min(end, text.length - countBegun(text, value));
    const within = text.indexOf(value, Math.max(0, end - value.length + 1));
    if (within !== -1 && within < end && within + value.length > end) end = within;
  }
  return end;
}

const LONGEST_WORD = 32;
/** The last word of a sentence, after which nothing may come for a while. Keys have capitals and underscores within. */
const WORD_AT_END = /(?:^|[\s*`(])[A-Z]?[a-z'’-]{1,24}[.!?:;,)*`]+$/;

function isSecretChar(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

/** How many characters at the end of a text are the beginning of a secret. */
function countBegun(text: string, secret: string): number {
  const first = secret.charCodeAt(0);
  for (let length = Math.min(text.length, secret.length - 1); length > 0; length -= 1) {
    if (text.charCodeAt(text.length - length) !== first) continue;
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}

function countSame(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return at;
}
