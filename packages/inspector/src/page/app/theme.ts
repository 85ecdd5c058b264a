// Light, dark, or as the system has it. Kept for this browser.

import { keep, readKept } from "../state/kept.ts";
import { createStore } from "../state/store.ts";

const THEMES = ["system", "light", "dark"] as const;

export const theme = createStore<(typeof THEMES)[number]>("system");

export function startTheme(): void {
  theme.subscribe(() => {
    const chosen = theme.get();
    if (chosen === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = chosen;
    keep("theme", chosen);
  });
  const before = readKept("theme");
  theme.set(THEMES.find((known) => known === before) ?? "system");
}

export function nextTheme(): string {
  theme.set(THEMES[(THEMES.indexOf(theme.get()) + 1) % THEMES.length] ?? "system");
  return theme.get();
}
