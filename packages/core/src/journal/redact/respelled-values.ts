// Known values with characters written as escapes of JSON or of URLs, any of them, to any depth. Text and
// values are both brought to one spelling, in which the values are looked for.

import { BASE64_CHARS } from "./base64.ts";
import { MIN_LENGTH, type KnownSecret } from "./known-secret.ts";
import { respell } from "./respell.ts";
import { createScan, type Needle } from "./scan.ts";
import type { Span } from "./span.ts";

/** Adds what it finds to the spans. */
export function createRespelledFinder(
  secrets: readonly KnownSecret[],
  needles: readonly Needle[],
): (text: string, spans: Span[]) => void {
  if (secrets.length === 0) return () => {};
  // Forms write a space as a plus; where no value has a space, a plus is only a plus.
  const hasSpace = secrets.some(({ value }) => value.includes(" "));
  const inJson = hasSpace ? ["\\", "+"] : ["\\"];
  const signs = [...inJson, "%"];
  const respelled = needles
    .map(({ text, spanAt }) => ({ text: text.replace(OPEN_END, ""), spanAt }))
    .filter(({ text }) => text.length >= MIN_LENGTH)
    .flatMap(({ text, spanAt }) => {
      // A value may itself look escaped, and come out of an escape as it was.
      const spellings = new Set([text, respell(text, inJson).text, respell(text, signs).text]);
      return Array.from(spellings, (spelling) => ({
        text: spelling,
        spanAt,
        shortest: text.length,
      }));
    })
    .filter(({ text }) => text.length > 1);
  const scan = createScan(respelled);
  const wanted = charactersOf([BASE64_CHARS, ...respelled.map(({ text }) => text)]);

  return function findRespelled(text, spans) {
    const isRespelled =
      text.includes("\\") || text.includes("%") || (hasSpace && text.includes("+"));
    if (!isRespelled) return;
    const plain = respell(text, signs, wanted);
    if (!plain.isChanged) return;
    for (const { needle, at } of scan(plain.text)) {
      const span = needle.spanAt(plain.text, at, needle.text.length);
      if (span === undefined) continue;
      const start = plain.sourceStart(span.start);
      const end = plain.sourceEnd(span.end);
      // No escape is shorter than what it stands for: this is the spelling of something else.
      if (end - start >= needle.shortest) spans.push({ ...span, start, end });
    }
  };
}

/** The start of an escape, were other text to follow. */
const OPEN_END = /[\\%]+[0-9A-Fa-f]?$/;

/** By character and by half: `\ud83d\ude00` is two escapes, `%F0%9F%98%80` is one. */
function charactersOf(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => [...Array.from(text), ...text.split("")]));
}
