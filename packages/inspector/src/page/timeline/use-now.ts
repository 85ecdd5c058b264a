// The time, going on while something does.

import { useEffect, useState } from "preact/hooks";

const STEP_MS = 200;
const CALM_STEP_MS = 1_000;

export function useNow(goesOn: boolean, otherwise: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!goesOn) return;
    setNow(Date.now());
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const timer = setInterval(() => setNow(Date.now()), calm ? CALM_STEP_MS : STEP_MS);
    return () => clearInterval(timer);
  }, [goesOn]);
  return goesOn ? now : otherwise;
}
