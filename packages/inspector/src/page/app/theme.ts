// Light, dark, or as the system has it. Kept for this browser.

import { createStore } from "../state/store.ts";

const THEMES = ["system", "light", "dark"] as const;
const KEY = "soong-inspector-theme";

export const theme = createStore<(typeof THEMES)[number]>("system");

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

export function nextTheme(): string {
  theme.set(THEMES[(THEMES.indexOf(theme.get()) + 1) % THEMES.length] ?? "system");
  return theme.get();
}

/** A browser may refuse to keep anything. */
function kept<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
