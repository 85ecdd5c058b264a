// What a check is and what it is given: a place no store has been opened at yet. The caller of a check needs
// no particular test runner; it throws when the store breaks the contract, and closes what it opened.

import type { Store } from "@soong/store";

export interface StoreUnderTest {
  /**
   * Opens the store at the same place; a second call gives a second, independent handle as another
   * process would have (where the implementation can).
   */
  open(): Promise<Store>;
  /**
   * Drops a handle as a killed process would: nothing pending is committed, locks are freed. Omitted
   * where that cannot be done within one process: then the handle is closed, with calls under way.
   */
  crash?(store: Store): Promise<void>;
}

/** A sentence about what is under test, the laws it belongs to, and the proof. */
export interface Check<Under> {
  readonly name: string;
  readonly laws: readonly string[];
  run(under: Under): Promise<void>;
}

export type ConformanceCheck = Check<StoreUnderTest>;

/** The place as a check sees it. */
export interface Place {
  open(): Promise<Store>;
  /** Leaves a store in the middle of its work. */
  crash(store: Store): Promise<void>;
}

export function storeCheck(
  name: string,
  laws: readonly string[],
  body: (place: Place) => Promise<void>,
): ConformanceCheck {
  return { name, laws, run };

  async function run(under: StoreUnderTest): Promise<void> {
    const opened = new Set<Store>();
    const place: Place = {
      async open() {
        const store = await under.open();
        opened.add(store);
        return store;
      },
      async crash(store) {
        opened.delete(store);
        await (under.crash === undefined ? store.close() : under.crash(store));
      },
    };
    try {
      await body(place);
    } finally {
      // A handle that cannot be closed must not hide why the check failed.
      await Promise.allSettled(Array.from(opened, (store) => store.close()));
    }
  }
}
