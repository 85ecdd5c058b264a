// When a key or a click counts as an answer. A question may appear under a finger that is on its way: what was pressed
// before a person could have read it is not meant for it.

export const READING_MS = 600;

interface Seen {
  /** When the question appeared, or last stood elsewhere on the screen. Of a clock that nobody sets. */
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
