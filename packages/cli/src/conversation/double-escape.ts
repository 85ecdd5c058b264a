// Esc twice without a turn: the second, soon and with the same text in the line, is the one that counts.

import type { Clock } from "@soong/core";

const SECOND_MS = 2000;

/** `changed` is called when there is something else to say of it. */
export function createDoubleEscape(clock: Pick<Clock, "after">, changed: () => void) {
  let first: { readonly text: string; forget(): void } | undefined;

  return {
    /** Whether it was the second. */
    press(text: string): boolean {
      const isSecond = first?.text === text;
      forget();
      if (!isSecond) first = { text, forget: clock.after(SECOND_MS, forget) };
      changed();
      return isSecond;
    },
    /** For the screen: what the second would do. */
    lines(): string[] {
      if (first === undefined) return [];
      const does = first.text === "" ? "goes back to an earlier prompt" : "clears the line";
      return [`Esc once more ${does}.`];
    },
    forget,
  };

  function forget(): void {
    if (first === undefined) return;
    first.forget();
    first = undefined;
    changed();
  }
}
