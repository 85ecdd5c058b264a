// Keys of the page while a component is there. They rest while the user writes, and while a dialog is open.

import { useEffect, useRef } from "preact/hooks";
import { createKeys, type KeyActions } from "./keys.ts";

const keys = createKeys();

export function useKeys(actions: KeyActions): void {
  const latest = useRef(actions);
  latest.current = actions;
  const names = Object.keys(actions).join("\n");
  useEffect(() => {
    const bound = Object.fromEntries(
      names.split("\n").map((name) => [name, () => latest.current[name]?.()]),
    );
    return keys.bind(bound);
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
    if (event.key === "Escape" && leaveField()) {
      event.preventDefault();
      return;
    }
    if (keys.press(event.key, event.timeStamp)) event.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

/** Out of a field to search with, back to where the keys of what it searches work. */
function leaveField(): boolean {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLElement) || !activeElement.matches("[data-search]")) {
    return false;
  }
  const place = activeElement.closest("aside, main");
  const list = place?.querySelector<HTMLElement>(".virtual, a[tabindex='0']");
  (list ?? document.getElementById("main"))?.focus();
  return true;
}

function rests(event: KeyboardEvent): boolean {
  const { target, key } = event;
  if (document.querySelector("dialog[open]") !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  // In a text the key scrolls, and does not leave it.
  if (key === "ArrowDown" && target !== document.body && target.id !== "main") return true;
  if (target.isContentEditable || target.matches("textarea, select")) return key !== "Escape";
  return (
    key !== "Escape" &&
    target instanceof HTMLInputElement &&
    !["checkbox", "radio", "button", "submit"].includes(target.type)
  );
}
