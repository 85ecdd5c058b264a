// Makes up files and patches for them: all styles of line ends, with and without a final newline, any
// context, files changed elsewhere in the meantime, few different lines so that places are ambiguous.

import { structuredPatch, formatPatch } from "diff";
import { FILE_NAME, type GitCase } from "./patch-git.ts";
import type { Random } from "./patch-random.ts";

/** A patch made by a diff program, for the file as it was or as others have changed it since. */
export function ordinaryCase(random: Random): GitCase {
  const style = random.pick(STYLES);
  const old = textOf(random, random.pick([0, 1, 2, 3, 8, 20, 60]), style);
  const changed = edited(random, old, 1 + random.below(4), style);
  const now = random.oneIn(2) ? old : edited(random, old, 1 + random.below(3), style);
  return {
    before: old.length === 0 && random.oneIn(3) ? undefined : bytesOf(now),
    patch: diffOf(old.join(""), changed.join(""), random.pick([0, 0, 1, 2, 3, 3, 5])),
  };
}

/** Many lines of few kinds and hunks far from where they belong, so that there is much to search. */
export function largeCase(random: Random): GitCase {
  const style = random.pick(STYLES);
  const kinds = Array.from({ length: 1 + random.below(4) }, () => lineOf(random, style));
  const old = Array.from({ length: 400 + random.below(2500) }, () =>
    random.oneIn(400) ? lineOf(random, style) : random.pick(kinds),
  );
  const changed = edited(random, old, 1 + random.below(12), style);
  const now = random.oneIn(2) ? old : edited(random, old, 1 + random.below(6), style);
  const context = random.pick([0, 1, 2, 3, 8]);
  const distance = random.pick([0, 3, 300, 3000]);
  const moved = (number: string): number =>
    Math.max(0, Number(number) + random.below(2 * distance + 1) - distance);
  const patch = diffOf(old.join(""), changed.join(""), context).replaceAll(
    /^@@ -(\d+)(.*) \+(\d+)(.*) @@$/gm,
    (_, from: string, removed: string, to: string, added: string) =>
      `@@ -${moved(from)}${removed} +${moved(to)}${added} @@`,
  );
  return { before: bytesOf(now), patch };
}

/** Files with a byte order mark, with bytes that are not UTF-8 and with NUL; the patch is text. */
export function oddBytesCase(random: Random): GitCase {
  const old = textOf(random, 4 + random.below(12), ["\n"]);
  const changed = edited(random, old, 1 + random.below(3), ["\n"]);
  const context = random.below(4);
  if (random.oneIn(2)) {
    // Among the lines of the patch the mark is text like any other.
    const mark = "\ufeff";
    const patch = diffOf(mark + old.join(""), random.pick(["", mark]) + changed.join(""), context);
    if (patch.includes(mark)) return { before: bytesOf([mark, ...old]), patch };
  }
  const odd = random.pick(["\xe9t\xe9\n", "\0\0\n", "\xff\xc3\xa9\n", "\xc3\n"]);
  const patch = diffOf(old.join(""), changed.join(""), context);
  // Text beyond ASCII is written in the encoding of the file, which git does not look at.
  const now = /[^\0-\x7f]/.test(patch)
    ? old.map((line) => Buffer.from(line))
    : edited(random, old, random.below(2), ["\n"]).map((line) => Buffer.from(line));
  if (!/[^\0-\x7f]/.test(patch))
    now.splice(random.below(now.length), 0, Buffer.from(odd, "latin1"));
  return { before: Buffer.concat(now), patch };
}

/** Hunks no diff program would write: any lines, any numbers, but counts that fit. */
export function madeUpCase(random: Random): GitCase {
  const style = random.pick(STYLES);
  const now = textOf(random, random.below(12), style);
  const context = !random.oneIn(3);
  let patch = HEADER;
  for (let left = 1 + random.below(3); left > 0; left -= 1) {
    patch += madeUpHunk(random, now, style, context);
  }
  return { before: random.oneIn(20) ? undefined : bytesOf(now), patch };
}

export const HEADER = `--- a/${FILE_NAME}\n+++ b/${FILE_NAME}\n`;

function madeUpHunk(random: Random, now: string[], style: Style, context: boolean): string {
  const start = random.below(now.length + 1);
  const body: string[] = [];
  let at = start;
  let old = 0;
  let added = 0;
  for (let left = 1 + random.below(5); left > 0; left -= 1) {
    const kind = random.pick(context ? [" ", " ", "-", "+"] : ["-", "+"]);
    const there = kind === "+" || at >= now.length ? lineOf(random, style) : (now[at] ?? "");
    const whole = there.endsWith("\n") ? there : `${there}\n${NO_NEWLINE}`;
    body.push(random.oneIn(40) ? `${kind}${whole}${NO_NEWLINE}` : `${kind}${whole}`);
    if (kind !== "+") at += 1;
    if (kind !== "+") old += 1;
    if (kind !== "-") added += 1;
  }
  const from = random.oneIn(3) ? random.below(now.length + 4) : old === 0 ? start : start + 1;
  const to = random.oneIn(3) ? random.below(now.length + 4) : start + 1;
  return `@@ -${from},${old} +${to},${added} @@\n${body.join("")}`;
}

const NO_NEWLINE = "\\ No newline at end of file\n";

type Style = readonly string[];

const STYLES: readonly Style[] = [
  ["\n"],
  ["\r\n"],
  ["\n", "\r\n"],
  // A carriage return alone ends no line.
  ["\r", "\n"],
  ["\r", "\r\n", "\n", "\n\n"],
];

const WORDS = ["a", "b", "", "}", "  x", "x  ", "\tq", "-- sql", "++ n", "é", "$&", "a b", " "];
const RARE_WORDS = [
  "@@ -1 +1 @@",
  "--- a/x",
  "+++ b/x",
  "\\ No newline at end of file",
  "diff --git",
];

function lineOf(random: Random, style: Style): string {
  const word = random.oneIn(15)
    ? random.pick(RARE_WORDS)
    : random.oneIn(4)
      ? `line ${random.below(30)}`
      : random.pick(WORDS);
  const end = random.pick(style);
  return end.endsWith("\n") ? word + end : `${word}${end}${random.pick(WORDS)}\n`;
}

function textOf(random: Random, lines: number, style: Style): string[] {
  const text = Array.from({ length: lines }, () => lineOf(random, style)).join("");
  return linesOf(random.oneIn(3) ? text.replace(/\r?\n$/, "") : text);
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function edited(random: Random, lines: readonly string[], edits: number, style: Style): string[] {
  const changed = [...lines];
  for (let left = edits; left > 0; left -= 1) {
    const at = random.below(changed.length + 1);
    const fresh = Array.from({ length: random.below(3) }, () => lineOf(random, style));
    changed.splice(at, random.below(3), ...fresh);
  }
  // A line without its line feed can only be the last.
  const text = changed.map((line) => (line.endsWith("\n") ? line : `${line}\n`)).join("");
  return linesOf(random.oneIn(3) ? text.replace(/\r?\n$/, "") : text);
}

function diffOf(old: string, changed: string, context: number): string {
  const patch = structuredPatch(`a/${FILE_NAME}`, `b/${FILE_NAME}`, old, changed, "", "", {
    context,
  });
  return formatPatch(patch).replace(/^=+\n/m, "");
}

function bytesOf(lines: readonly string[]): Buffer {
  return Buffer.from(lines.join(""));
}
