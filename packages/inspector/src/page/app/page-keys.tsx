// The keys that work everywhere. None of them answers a question.

import type { Route, SessionTab } from "../route/hash-route.ts";
import { useInspector } from "./context.ts";
import { nextTheme } from "./theme.ts";
import { useKeys } from "./use-keys.ts";

export function PageKeys(props: { onHelp: () => void }) {
  const { about, route, go, announce } = useInspector();
  const tab = (tab: SessionTab) => () => {
    const now = route.get();
    if (now.view === "session") go({ ...now, tab });
    else if (now.view === "what-if") go({ ...now, view: "session", tab });
    // It is there with the next picture.
    requestAnimationFrame(() => requestAnimationFrame(intoList));
  };
  const to = (next: Route, can: boolean) => () => {
    if (can) go(next);
  };
  const questions = to({ view: "questions" }, true);
  useKeys({
    "?": props.onHelp,
    t: () => announce(`Theme: ${nextTheme()}`),
    q: questions,
    "g q": questions,
    "g s": () => focusFirst("#sessions a[tabindex='0']", "#sessions input"),
    "g t": tab("timeline"),
    "g f": tab("facts"),
    "g u": tab("surface"),
    "g a": tab("artifacts"),
    "g k": to({ view: "tasks" }, about.can.tasks),
    "g p": to({ view: "playground" }, about.can.playground),
    "g v": to({ view: "servers" }, about.can.servers),
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

function focusFirst(...selectors: readonly string[]): void {
  for (const selector of selectors) {
    const found = document.querySelector<HTMLElement>(selector);
    if (found === null) continue;
    found.focus();
    return;
  }
}
