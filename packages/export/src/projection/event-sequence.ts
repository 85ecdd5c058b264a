// The sequence of events that come from facts: the same wherever reading began, and always rising.

/** More events than one fact has. */
const EVENTS_OF_A_FACT = 1_000_000;
/** A session has room for so many facts, so that every sequence is an exact number. */
const MOST_FACTS = 2 ** 32;

/** The `seq` of the fact times a million, plus the place of the event among those of its fact. */
export class EventSequence {
  #next = 0;

  begin(seq: unknown): void {
    if (typeof seq !== "number" || !Number.isSafeInteger(seq) || seq > MOST_FACTS) return;
    // A damaged journal may count backwards: the export never does.
    this.#next = Math.max(this.#next, seq * EVENTS_OF_A_FACT);
  }

  take(): number {
    this.#next += 1;
    return this.#next - 1;
  }

  /** Of an event that an earlier fact may have had already: those behind it have the same places with and without it. */
  skip(): void {
    this.#next += 1;
  }
}
