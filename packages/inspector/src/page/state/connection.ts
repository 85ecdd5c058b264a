// Whether the server answers, and when it is asked again.

export type Connection =
  | { state: "connecting" }
  | { state: "connected" }
  /** `tries` since it was lost; `why` is what the server says, where it says something. */
  | { state: "lost"; tries: number; why?: string };

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** How long to wait before asking again, after so many failures in a row. */
export function waitBeforeTry(tries: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, tries - 1));
}
