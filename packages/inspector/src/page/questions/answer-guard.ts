// When a key or a click counts as an answer. A question may appear under a finger that is on its way: what was pressed
// before the user could have read it is not meant for it. How long that still takes is seen on the buttons.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export const READING_MS = 600;

interface Seen {
  /** When the question appeared, or last stood elsewhere on the screen. Of a clock that no one sets. */
  readonly shown_at: number;
  /** When it got the focus; undefined for a click, which needs none. */
  readonly focused_at?: number;
}

export function isDeliberate(seen: Seen, now: number): boolean {
  const since = Math.max(seen.shown_at, seen.focused_at ?? Number.NEGATIVE_INFINITY);
  return now - since >= READING_MS;
}

/** Whether clicks and keys do not count yet. */
export interface Waiting {
  readonly click: boolean;
  readonly key: boolean;
  /** Another one whenever the time begins again. */
  readonly turn: number;
}

const LOOK_MS = 100;

/** `find`: what must not have moved. `content`: what must not have become another one. Times are of `performance.now()`. */
export function useAnswerGuard(find: () => Element | null | undefined, content = "") {
  const seen = useRef({ place: "", shown_at: performance.now(), focused_at: -READING_MS, turn: 0 });
  const latest = useRef(find);
  latest.current = find;
  const [waiting, setWaiting] = useState<Waiting>({ click: true, key: true, turn: 0 });

  /** Knows also of what moved just now. */
  function look(): Waiting {
    const box = latest.current()?.getBoundingClientRect();
    const place = box === undefined ? "" : `${Math.round(box.left)} ${Math.round(box.top)}`;
    if (place !== seen.current.place) begin({ place, shown_at: performance.now() });
    const { shown_at, focused_at, turn } = seen.current;
    const now = performance.now();
    const next = {
      click: !isDeliberate({ shown_at }, now),
      key: !isDeliberate({ shown_at, focused_at }, now),
      turn,
    };
    setWaiting((before) =>
      before.click === next.click && before.key === next.key && before.turn === turn
        ? before
        : next,
    );
    return next;
  }

  function begin(at: Partial<typeof seen.current>): void {
    seen.current = { ...seen.current, ...at, turn: seen.current.turn + 1 };
  }

  useLayoutEffect(() => begin({ shown_at: performance.now() }), [content]);
  // Before it is painted: a button that does not count must not look as if it did.
  useLayoutEffect(() => void look());

  useEffect(() => {
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, []);

  return {
    waiting,
    /** Whether it counts now. */
    isMeant: (by: "click" | "key") => !look()[by],
    /** It got the focus from elsewhere. */
    focused() {
      begin({ focused_at: performance.now() });
      look();
    },
  };
}

/** What shows on a button that it does not count yet. */
export function waitMark(isWaiting: boolean, { turn }: Waiting) {
  return isWaiting ? { "data-wait": turn % 2 } : {};
}
