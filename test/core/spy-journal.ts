// A journal that shows what was appended together, and that can be told to fail or to take its time.

import {
  createMemoryJournal,
  type Fact,
  type FactType,
  type Journal,
  type JournalEntry,
  type MemoryJournal,
} from "@soong/core";
import { factsOfTypes } from "../facts.ts";

export interface SpyJournal extends MemoryJournal {
  readonly entries: readonly JournalEntry[];
  /** How many times durability was asked for. */
  readonly flushes: number;
  /** The seq of the last fact that is durable. */
  readonly durable: number;
}

export interface SpyOptions {
  /** Sees every entry before it is taken, and may throw in its place. */
  onAppend?(entry: JournalEntry, index: number): void;
  /** What flush does; what was appended before it began is durable once it settles. */
  onFlush?(count: number): void | Promise<void>;
  onRead?: Journal["read"];
}

export function createSpyJournal(options: SpyOptions = {}): SpyJournal {
  const memory = createMemoryJournal();
  const entries: JournalEntry[] = [];
  let flushes = 0;
  let durable = 0;

  return {
    facts: memory.facts,
    nodes: memory.nodes,
    entries,
    get flushes() {
      return flushes;
    },
    get durable() {
      return durable;
    },
    append(entry) {
      options.onAppend?.(entry, entries.length);
      const { facts, nodes } = entry;
      const read = { facts, nodes };
      entries.push(read);
      memory.append(read);
    },
    async flush() {
      flushes += 1;
      const upTo = memory.facts.at(-1)?.seq ?? 0;
      await options.onFlush?.(flushes);
      durable = Math.max(durable, upTo);
    },
    read: options.onRead ?? ((after, limit) => memory.read(after, limit)),
  };
}

/** The first fact of this type of a call. */
export function factOf<T extends FactType>(
  { facts }: Pick<MemoryJournal, "facts">,
  tool_call_id: string,
  type: T,
): Fact<T> | undefined {
  return factsOfTypes(facts, type).find((fact) => fact.tool_call_id === tool_call_id);
}
