// A screen as narrow as a phone's: one thing at a time, and what is opened covers the page until it is closed again.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** The same width as in the style sheets. */
const PHONE = "(max-width: 700px)";

export function usePhone(): boolean {
  const [is, setIs] = useState(() => matchMedia(PHONE).matches);
  useEffect(() => {
    const media = matchMedia(PHONE);
    const look = () => setIs(media.matches);
    media.addEventListener("change", look);
    return () => media.removeEventListener("change", look);
  }, []);
  return is;
}

/** While it covers the page it has the focus, nothing else can be reached, and afterwards the focus is where it was. */
export function useCovering(box: { current: HTMLElement | null }, isCovering: boolean): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (!isCovering || element === null) return;
    const before = document.activeElement;
    const others = listOthers(element);
    for (const other of others) other.inert = true;
    element.focus();
    return () => {
      for (const other of others) other.inert = false;
      const { activeElement } = document;
      const isLost = activeElement === document.body || element.contains(activeElement);
      if (isLost && before instanceof HTMLElement) before.focus();
    };
  }, [isCovering]);
}

/** All beside it and beside what it is in, except what is only read out. */
function listOthers(element: HTMLElement): readonly HTMLElement[] {
  const others: HTMLElement[] = [];
  for (let at = element; at !== document.body && at.parentElement !== null; at = at.parentElement) {
    for (const other of at.parentElement.children) {
      const isOther = other instanceof HTMLElement && other !== at && !other.inert;
      if (isOther && !other.matches("[role=status], dialog")) others.push(other);
    }
  }
  return others;
}

/** The way back closes what is open, where the address does not say that it is. */
export function useBackCloses(isOpen: boolean, close: () => void): void {
  const latest = useRef(close);
  latest.current = close;
  useLayoutEffect(() => {
    if (!isOpen) return;
    history.pushState({ isCovered: true }, "");
    const onBack = () => latest.current();
    addEventListener("popstate", onBack);
    return () => {
      removeEventListener("popstate", onBack);
      // Closed by other means: the entry made for it goes with it.
      const state = history.state as { isCovered?: boolean } | null;
      if (state?.isCovered === true) history.back();
    };
  }, [isOpen]);
}
