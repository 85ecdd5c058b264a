// What is open, and the newest of what has ended: a read model does not grow with the journal.

export class Recent<Item> {
  readonly #open = new Map<string, Item>();
  readonly #ended = new Map<string, Item>();
  readonly #limit: number;
  /** Ended, and no longer kept. */
  omitted = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  find(id: string): Item | undefined {
    return this.#open.get(id) ?? this.#ended.get(id);
  }

  open(id: string, item: Item): Item {
    this.#ended.delete(id);
    this.#open.set(id, item);
    return item;
  }

  end(id: string): void {
    const item = this.#open.get(id);
    if (item === undefined) return;
    this.#open.delete(id);
    this.#ended.set(id, item);
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= this.#limit) return;
      this.#ended.delete(oldest);
      this.omitted += 1;
    }
  }

  get openItems(): Iterable<Item> {
    return this.#open.values();
  }

  get last(): Item | undefined {
    return [...this.#ended.values()].at(-1);
  }

  /** The ended ones first, in the order of their ends. */
  list(): Item[] {
    return [...this.#ended.values(), ...this.#open.values()];
  }
}
