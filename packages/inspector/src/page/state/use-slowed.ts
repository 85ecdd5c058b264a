// A value that changes many times a second, seen less often; its last one is always seen. Whoever asks the server
// because of it gets an answer before the next one makes them ask again.

import { useEffect, useRef, useState } from "preact/hooks";

const LEAST_BETWEEN_MS = 600;

export function useSlowed(value: number): number {
  const [slow, setSlow] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  useEffect(() => {
    if (value === slow) return;
    const timer = setTimeout(() => setSlow(latest.current), LEAST_BETWEEN_MS);
    return () => clearTimeout(timer);
    // Not anew for each value: else a stream of them would put it off for ever.
  }, [slow, value === slow]);
  return slow;
}
