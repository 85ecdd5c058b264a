// The store of the home, opened for reading when it is there. Nothing may ever have been kept when the inspector starts,
// so it looks again.

import type { Store } from "@soong/store";
import { toInspectorError } from "./answer.ts";
import { InspectorError } from "./ports.ts";

/** Undefined while there is none. */
export type OpenStore = () => Promise<Store | undefined>;

export type HomeStore = ReturnType<typeof createHomeStore>;

const LOOK_AGAIN_MS = 1000;

export function createHomeStore(given: Store | OpenStore) {
  let opening: Promise<Store | undefined> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let problem: string | undefined;
  let isClosed = false;
  /** Only what was opened here is closed here. */
  let opened: Store | undefined;

  return {
    /** Undefined while there is none, or none that can be read. */
    find,
    /** Throws a sentence where `find` has nothing. */
    async get(): Promise<Store> {
      const store = await find();
      if (store !== undefined) return store;
      throw new InspectorError(
        problem === undefined ? "not_found" : "failed",
        problem ?? "Nothing is kept in this home yet.",
      );
    },
    /** Why it cannot be opened, as a sentence. */
    problem: (): string | undefined => problem,
    async close(): Promise<void> {
      isClosed = true;
      await opening;
      await opened?.close();
    },
  };

  async function find(): Promise<Store | undefined> {
    if (isClosed) throw new InspectorError("gone", "The inspector has ended.");
    if (typeof given !== "function") return given;
    if (opened !== undefined) return opened;
    if (opening === undefined && performance.now() - lookedAt < LOOK_AGAIN_MS) return undefined;
    opening ??= open(given);
    return opening;
  }

  async function open(how: OpenStore): Promise<Store | undefined> {
    try {
      opened = await how();
      problem = undefined;
    } catch (error) {
      problem = toInspectorError(error).message;
    } finally {
      lookedAt = performance.now();
      opening = undefined;
    }
    return opened;
  }
}
