// A store as a hook: the component draws again when the value, or what it picks of it, is another one.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Store } from "./store.ts";

export function useStore<Value>(store: Store<Value>): Value;
export function useStore<Value, Part>(store: Store<Value>, pick: (value: Value) => Part): Part;
export function useStore<Value>(store: Store<Value>, pick?: (value: Value) => unknown): unknown {
  const picked = () => (pick === undefined ? store.get() : pick(store.get()));
  const latest = useRef(picked);
  latest.current = picked;
  const [, setSeen] = useState(picked);
  useEffect(() => {
    const look = () => setSeen(() => latest.current());
    // It may have changed between drawing and now.
    look();
    return store.subscribe(look);
  }, [store]);
  return picked();
}
