// Passwords in URLs: `scheme://user:password@host`. The password only; `${…}` and the like are no
// passwords.

import { matchAt } from "./match-at.ts";
import type { Span } from "./span.ts";

/** Adds what it finds to the spans. */
export function findUrlPasswords(text: string, spans: Span[]): void {
  if (!text.includes("@")) return;
  for (let at = text.indexOf("://"); at !== -1; at = text.indexOf("://", at + 3)) {
    const match = matchAt(USER_INFO, text, at);
    if (match === null) continue;
    const end = at + match[0].length - 1;
    const start = end - (match[1] as string).length;
    spans.push({ start, end, label: "url_password", known: false });
  }
}

const USER_INFO =
  /:\/\/[^\s/?#@:"'`<>\\]{0,256}:(?![${<]|\[redacted:|\*+@|%[a-z]@)([^\s/?#@"'`<>\\]{1,1024})@/y;
