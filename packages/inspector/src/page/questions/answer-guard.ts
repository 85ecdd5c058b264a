// When a key or a click counts as an answer. A question may appear under a finger that is on its way: what was pressed
// before the user could have read it is not meant for it.

import { useEffect, useRef } from "preact/hooks";

export const READING_MS = 600;

interface Seen {
  /** When the question appeared, or last stood elsewhere on the screen. Of a clock that no one sets. */
  readonly shown_at: number;
  /** When it got the focus; undefined for a click, which needs none. */
  readonly focused_at?: number;
}

export function isDeliberate(
  seen: Seen,
  now: number,
  press: { readonly is_repeat: boolean },
): boolean {
  // A key that is held down was pressed for something else.
  if (press.is_repeat) return false;
  const since = Math.max(seen.shown_at, seen.focused_at ?? Number.NEGATIVE_INFINITY);
  return now - since >= READING_MS;
}

const LOOK_MS = 200;

/** When something on the screen last moved. The function looks once more, so that it knows of what moved just now. Times are of `performance.now()`. */
export function useLastMoved(find: () => Element | null | undefined): () => number {
  const stood = useRef({ place: "", at: performance.now() });
  const latest = useRef(find);
  latest.current = find;

  function look(): number {
    const box = latest.current()?.getBoundingClientRect();
    const place = box === undefined ? "" : `${Math.round(box.left)} ${Math.round(box.top)}`;
    if (place !== stood.current.place) stood.current = { place, at: performance.now() };
    return stood.current.at;
  }

  useEffect(() => {
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  return look;
}
