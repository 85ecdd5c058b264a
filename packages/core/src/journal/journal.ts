// The append-only record of a session behind the interface a durable store implements, and the one in
// memory. One writer per session; readers page by seq.

import type { ConversationNode, Fact } from "./fact.ts";

/** Committed whole or not at all (PIPE-3): a result's node never without its terminal fact. */
export interface JournalEntry {
  /** May be made when they are read, and anew each time: a journal keeps what it read. */
  readonly facts: readonly Fact[];
  readonly nodes?: readonly ConversationNode[] | undefined;
}

export interface Journal {
  /**
   * Takes an entry, in order. A store may hold entries back to commit several at once; it throws when
   * it can take no more, and then takes nothing of that entry.
   */
  append(entry: JournalEntry): void;
  /** Settles when everything appended so far is durable. */
  flush(): Promise<void>;
  /** Facts after `seq`, oldest first; includes what is appended but not yet durable. */
  read(after: number, limit: number): Promise<readonly Fact[]>;
  /** How far it is committed. Absent where an entry is committed as soon as it is taken. */
  readonly committed?: CommittedFacts;
  /** Aborts when another may write to the session from now on, with the reason: its runs end. Absent where that cannot happen. */
  readonly lost?: AbortSignal;
}

export interface CommittedFacts {
  /** Of the last fact that a crash can no longer take back. */
  readonly seq: number;
  /** Calls back whenever that has moved, until unsubscribed. */
  subscribe(listener: () => void): () => void;
}

export interface MemoryJournal extends Journal {
  readonly facts: readonly Fact[];
  readonly nodes: readonly ConversationNode[];
}

/** A journal in memory. It keeps entries as they came: their facts are made when they are read. */
export function createMemoryJournal(): MemoryJournal {
  return new EntriesInMemory();
}

class EntriesInMemory implements MemoryJournal {
  readonly #facts: Fact[] = [];
  readonly #nodes: ConversationNode[] = [];
  #unread: JournalEntry[] = [];
  /** A reader may hold the list, and it grows with the journal. */
  #isHeld = false;

  get facts(): readonly Fact[] {
    this.#isHeld = true;
    return this.#readEntries();
  }

  get nodes(): readonly ConversationNode[] {
    this.#isHeld = true;
    this.#readEntries();
    return this.#nodes;
  }

  append(entry: JournalEntry): void {
    this.#unread.push(entry);
    if (this.#isHeld) this.#readEntries();
  }

  async flush(): Promise<void> {}

  async read(after: number, limit: number): Promise<readonly Fact[]> {
    const facts = this.#readEntries();
    // A session's seq begins at 1 and has no holes, so the place of a fact is its seq.
    const from = Math.max(0, after - (facts[0]?.seq ?? 1) + 1);
    return facts.slice(from, from + limit);
  }

  #readEntries(): readonly Fact[] {
    const unread = this.#unread;
    if (unread.length > 0) this.#unread = [];
    for (const { facts, nodes } of unread) {
      for (const fact of facts) this.#facts.push(fact);
      if (nodes !== undefined) this.#nodes.push(...nodes);
    }
    return this.#facts;
  }
}
