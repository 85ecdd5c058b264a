// Whether someone rushes through a long list: more than a screen between two pictures. Then rows show only what is quick
// to draw, and the rest comes when they slow down.

import { useEffect, useRef, useState } from "preact/hooks";

const REST_MS = 100;

export interface Hurry {
  is: boolean;
  /** Called after each scroll. True: it is one. */
  scrolled: (top: number, height: number) => boolean;
}

export function useHurry(onRest: () => void): Hurry {
  const [is, setIs] = useState(false);
  const before = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const rest = useRef(onRest);
  rest.current = onRest;
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    is,
    scrolled(top, height) {
      const far = Math.abs(top - before.current) > height * 0.75;
      before.current = top;
      if (!far) return timer.current !== undefined;
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        timer.current = undefined;
        setIs(false);
        rest.current();
      }, REST_MS);
      setIs(true);
      return true;
    },
  };
}
