// When something on the screen last stood elsewhere, whatever moved it: a line above it, a row that came, a scroll.

import { useEffect, useRef } from "preact/hooks";

const LOOK_MS = 200;

/** The function looks once more, so that it knows of what moved just now. Times are of `performance.now()`. */
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
