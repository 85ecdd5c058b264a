// The digest of a model request (MODEL-7): what a request that is put together again is held against. One hash runs over the
// messages of a conversation as it grows, so that a request hashes only what is new in it.

import { createHash, type Hash } from "node:crypto";
import type { ModelMessage, ModelRequest } from "../model/index.ts";

/** What a request has beside its messages. */
export interface RequestHead extends Omit<ModelRequest, "messages" | "system" | "tools"> {
  /** Of the JSON of its system texts, and of its tools. */
  readonly system_sha256: string;
  readonly tools_sha256: string;
}

export function digestRequest(head: RequestHead, messages: MessageList): string {
  const { index, run_id, agent_definition_id, max_output_tokens } = head;
  const { system_sha256, tools_sha256 } = head;
  const named = [run_id ?? null, agent_definition_id ?? null, max_output_tokens ?? null];
  const parts = JSON.stringify([...named, system_sha256, tools_sha256]);
  return `sha256:${messages.startHash().update(`${index}\n${parts}`).digest("hex")}`;
}

/** Messages of one request: the first `count` of a list that only grows, and what follows them. */
export class MessageList {
  readonly #closed: readonly ModelMessage[];
  readonly #count: number;
  readonly tail: readonly ModelMessage[];

  constructor(
    closed: readonly ModelMessage[],
    count = closed.length,
    tail: readonly ModelMessage[] = [],
  ) {
    this.#closed = closed;
    this.#count = count;
    this.tail = tail;
  }

  toArray(): readonly ModelMessage[] {
    return this.#closed.slice(0, this.#count).concat(this.tail);
  }

  /** A hash of its own that has all of them. */
  startHash(): Hash {
    const hash = hashClosed(this.#closed, this.#count).copy();
    for (const message of this.tail) addMessage(hash, message);
    return hash;
  }
}

/** How far each list has been hashed. */
const hashed = new WeakMap<readonly ModelMessage[], { count: number; readonly hash: Hash }>();

function hashClosed(messages: readonly ModelMessage[], count: number): Hash {
  let known = hashed.get(messages);
  // Facts are made in order, nearly always.
  if (known === undefined || known.count > count) {
    known = { count: 0, hash: createHash("sha256") };
    hashed.set(messages, known);
  }
  for (; known.count < count; known.count += 1) {
    addMessage(known.hash, messages[known.count] as ModelMessage);
  }
  return known.hash;
}

/** JSON has no line breaks, so the border between two is where it is. */
function addMessage(hash: Hash, message: ModelMessage): void {
  hash.update(`${JSON.stringify(message)}\n`);
}
