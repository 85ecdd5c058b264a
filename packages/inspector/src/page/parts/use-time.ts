// Hooks that depend on the time.

import { useEffect, useRef, useState } from "preact/hooks";

/** The time, read again at this interval; undefined: not any more. */
export function useClock(everyMs: number | undefined): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (everyMs === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** The time while something runs, at the pace of an animation; `otherwise` when nothing does. */
export function useNow(isRunning: boolean, otherwise: number): number {
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const now = useClock(isRunning ? (isCalm ? 1_000 : 200) : undefined);
  return isRunning ? now : otherwise;
}

const LEAST_BETWEEN_MS = 600;

/**
 * A value that changes many times a second, seen less often; its last one is always seen. A request that depends on it
 * is answered before the next one is made.
 */
export function useSlowed(value: number): number {
  const [slow, setSlow] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  useEffect(() => {
    if (value === slow) return;
    const timer = setTimeout(() => setSlow(latest.current), LEAST_BETWEEN_MS);
    return () => clearTimeout(timer);
    // Not restarted for each value: a stream of them would postpone it for ever.
  }, [slow, value === slow]);
  return slow;
}
