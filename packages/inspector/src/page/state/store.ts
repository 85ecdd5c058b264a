// A value that others subscribe to, and its hook.

import { useEffect, useRef, useState } from "preact/hooks";

export interface Store<Value> {
  get(): Value;
  set(next: Value): void;
  /** The function ends it. */
  subscribe(listener: () => void): () => void;
}

export function createStore<Value>(initial: Value): Store<Value> {
  const listeners = new Set<() => void>();
  let value = initial;
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The value, or what is picked of it: the component is drawn again when that is another one. */
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
