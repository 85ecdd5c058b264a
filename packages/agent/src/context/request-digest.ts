// The digest of a model request (MODEL-7): what a request that is put together again is held against. The messages are a
// chain of hashes, so that a request of a long conversation hashes only what is new in it.

import { createHash } from "node:crypto";
import type { ModelMessage, ModelRequest } from "../model/index.ts";

/** Of the parts of a request that are not messages. */
export interface RequestHead extends Omit<ModelRequest, "messages" | "system" | "tools"> {
  /** Of the JSON of its system texts, and of its tools. */
  readonly system_sha256: string;
  readonly tools_sha256: string;
}

/** Messages of one request: the first `count` of a list that only grows, and what follows them. */
export class MessageList {
  readonly #closed: readonly ModelMessage[];
  readonly #count: number;
  readonly tail: ModelMessage[];

  constructor(closed: readonly ModelMessage[], count: number, tail: ModelMessage[]) {
    this.#closed = closed;
    this.#count = count;
    this.tail = tail;
  }

  toArray(): readonly ModelMessage[] {
    return this.#closed.slice(0, this.#count).concat(this.tail);
  }

  /** The end of the chain. */
  hash(): string {
    return this.tail.reduce(linkMessage, hashClosed(this.#closed, this.#count));
  }
}

/** How far each list has been hashed. */
const hashed = new WeakMap<readonly ModelMessage[], { count: number; hash: string }>();

function hashClosed(messages: readonly ModelMessage[], count: number): string {
  let known = hashed.get(messages);
  // Facts are made in order, nearly always.
  if (known === undefined || known.count > count) {
    known = { count: 0, hash: "" };
    hashed.set(messages, known);
  }
  for (; known.count < count; known.count += 1) {
    known.hash = linkMessage(known.hash, messages[known.count] as ModelMessage);
  }
  return known.hash;
}

function linkMessage(before: string, message: ModelMessage): string {
  return sha256(`${before}\n${JSON.stringify(message)}`);
}

export function digestRequest(head: RequestHead, messagesHash: string): string {
  const { index, run_id, agent_definition_id, max_output_tokens } = head;
  const { system_sha256, tools_sha256 } = head;
  const named = [run_id ?? null, agent_definition_id ?? null, max_output_tokens ?? null];
  const parts = JSON.stringify([...named, system_sha256, tools_sha256, messagesHash]);
  return `sha256:${sha256(`${index}\n${parts}`)}`;
}

/** Of any list of messages. */
export function hashMessages(messages: readonly ModelMessage[]): string {
  return messages.reduce(linkMessage, "");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
