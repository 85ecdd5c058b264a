// The keys that work everywhere. None of them answers a question.

import type { SessionTab } from "../route/hash-route.ts";
import { useInspector } from "./inspector.ts";
import { useKeys } from "./keys.ts";
import { nextTheme } from "./theme.ts";
import { listViewLinks } from "./views.tsx";

export function PageKeys(props: { onHelp: () => void; onSessions: () => void }) {
  const { about, route, go, announce } = useInspector();
  const tab = (tab: SessionTab) => () => {
    const now = route.get();
    if (now.view === "session") go({ ...now, tab });
    else if (now.view === "what-if") go({ ...now, view: "session", tab });
    // It is there with the next picture.
    requestAnimationFrame(() => requestAnimationFrame(intoList));
  };
  const views = listViewLinks(about.can).map(({ key, to }) => [`g ${key}`, () => go(to)]);
  useKeys({
    ...(Object.fromEntries(views) as Record<string, () => void>),
    "?": props.onHelp,
    t: () => announce(`Theme: ${nextTheme()}`),
    q: () => go({ view: "questions" }),
    ...(about.can.run ? { n: () => go({ view: "new-run" }) } : {}),
    "g s": props.onSessions,
    "g c": tab("conversation"),
    "g t": tab("timeline"),
    "g f": tab("facts"),
    "g u": tab("surface"),
    "g a": tab("artifacts"),
    "/": () => focusFirst("main [data-search]", "#sessions input"),
    j: intoList,
    ArrowDown: intoList,
  });
  return null;
}

/** To the rows of what is shown, where the keys of a list work. */
function intoList(): void {
  focusFirst("main .virtual", "#main");
}

export function focusFirst(...selectors: readonly string[]): void {
  for (const selector of selectors) {
    const found = document.querySelector<HTMLElement>(selector);
    found?.focus();
    if (found !== null) return;
  }
}
