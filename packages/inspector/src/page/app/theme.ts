// Light, dark, or as the system has it. Kept for this browser.

import { createStore } from "../state/store.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "soong-inspector-theme";

export const theme = createStore<Theme>("system");

export function startTheme(): void {
  theme.subscribe(() => {
    const chosen = theme.get();
    if (chosen === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = chosen;
    kept(() => localStorage.setItem(KEY, chosen));
  });
  const before = kept(() => localStorage.getItem(KEY));
  theme.set(THEMES.find((known) => known === before) ?? "system");
}

export function nextTheme(): Theme {
  const next = THEMES[(THEMES.indexOf(theme.get()) + 1) % THEMES.length] ?? "system";
  theme.set(next);
  return next;
}

/** A browser may refuse to keep anything. */
function kept<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
