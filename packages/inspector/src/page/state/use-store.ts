// A store as a hook: the component draws again when the value, or what it picks of it, is another one.

import { useEffect, useState } from "preact/hooks";
import type { Store } from "./store.ts";

export function useStore<Value>(store: Store<Value>): Value;
export function useStore<Value, Part>(store: Store<Value>, pick: (value: Value) => Part): Part;
export function useStore<Value>(store: Store<Value>, pick?: (value: Value) => unknown): unknown {
  const part = pick === undefined ? store.get() : pick(store.get());
  const [, setSeen] = useState(part);
  useEffect(() => {
    // It may have changed between drawing and now.
    const look = () => setSeen(() => (pick === undefined ? store.get() : pick(store.get())));
    look();
    return store.subscribe(look);
    // `pick` is written where it is used, anew each time, and says the same.
  }, [store]);
  return part;
}
