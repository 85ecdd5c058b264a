// The keys of the page: single ones and sequences like `g s`. They rest while the user writes, and while a dialog is open.

import { useEffect, useRef } from "preact/hooks";

/** By key, or by sequence: `g s`. */
export type KeyActions = Readonly<Record<string, () => void>>;

const LONGEST_BETWEEN_MS = 1_500;

/** Pure: what a key means now follows from what is bound and what was pressed last. */
export function createKeys() {
  const bound: KeyActions[] = [];
  let before: { key: string; time: number } | undefined;
  const find = (sequence: string) =>
    bound.findLast((actions) => Object.hasOwn(actions, sequence))?.[sequence];
  const begins = (key: string) =>
    bound.some((actions) => Object.keys(actions).some((name) => name.startsWith(`${key} `)));
  /** Whether the next key is the second of a sequence. */
  const isBegun = (time: number) =>
    before !== undefined && time - before.time <= LONGEST_BETWEEN_MS;

  return {
    isBegun,
    /** Later bindings go before earlier ones. The function ends it. */
    bind(actions: KeyActions): () => void {
      bound.push(actions);
      return () => {
        const at = bound.indexOf(actions);
        if (at >= 0) bound.splice(at, 1);
      };
    },
    /** True when the key meant something. */
    press(key: string, time: number): boolean {
      const first = isBegun(time) ? before : undefined;
      before = undefined;
      const action = (first && find(`${first.key} ${key}`)) ?? find(key);
      action?.();
      if (action !== undefined) return true;
      if (!begins(key)) return false;
      before = { key, time };
      return true;
    },
  };
}

const keys = createKeys();

/** While a component is there. */
export function useKeys(actions: KeyActions): void {
  const latest = useRef(actions);
  latest.current = actions;
  const names = Object.keys(actions).join("\n");
  useEffect(() => {
    const bound = names.split("\n").map((name) => [name, () => latest.current[name]?.()]);
    return keys.bind(Object.fromEntries(bound) as KeyActions);
  }, [names]);
}

/** Whether the key of this time is the second of a sequence such as `g s`, and so means nothing else. */
export function isSequenceBegun(time: number): boolean {
  return keys.isBegun(time);
}

/** Listens for the whole page. The function ends it. */
export function listenToKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.isComposing || rests(event)) return;
    const isMeant = event.key === "Escape" && leaveField();
    if (isMeant || keys.press(event.key, event.timeStamp)) event.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

/** Out of a field to search with, back to where the keys of what it searches work. */
function leaveField(): boolean {
  const { activeElement } = document;
  if (activeElement?.matches("[data-search]") !== true) return false;
  const place = activeElement.closest("aside, main");
  const list = place?.querySelector<HTMLElement>(".virtual, a[tabindex='0']");
  (list ?? document.getElementById("main"))?.focus();
  return true;
}

const TYPED = "input:not([type=checkbox], [type=radio], [type=button], [type=submit])";

function rests({ target, key }: KeyboardEvent): boolean {
  if (document.querySelector("dialog[open]") !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  // In a text the key scrolls, and does not leave it.
  if (key === "ArrowDown" && target !== document.body && target.id !== "main") return true;
  const isTyped = target.isContentEditable || target.matches(`textarea, select, ${TYPED}`);
  return isTyped && key !== "Escape";
}
