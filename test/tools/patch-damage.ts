// Damages patches in the ways they get damaged: cut, miscounted, shuffled, doubled, stripped of blanks
// or of the mark for a missing newline. Most of what comes out no longer applies.

import type { Random } from "./patch-random.ts";

export function damaged(random: Random, patch: string): string {
  return random.pick(DAMAGES)(random, patch);
}

type Damage = (random: Random, patch: string) => string;

const NO_NEWLINE = "\\ No newline at end of file\n";

const DAMAGES: readonly Damage[] = [
  (random, patch) => patch.slice(0, random.below(patch.length + 1)),
  changeLine(
    (random, line) =>
      line.slice(0, random.below(line.length)) + line.slice(random.below(line.length)),
  ),
  changeLine((random, line) => random.pick([" ", "+", "-", "\\", "", "@", "x"]) + line.slice(1)),
  changeLine((_, line) => line.replace(/[ \t]+\n$/, "\n")),
  changeLine((_, line) => line.replace(/\n$/, "\r\n")),
  changeLine((_, line) => line + line),
  changeLine(() => ""),
  changeLine((_, line) => line + NO_NEWLINE),
  changeLine(
    (random, line) =>
      line + random.pick(["\\ x\n", "\\No newline at all\n", "\n", "garbage\n", " \n"]),
  ),
  (_, patch) => patch.replaceAll(NO_NEWLINE, ""),
  (_, patch) => patch.replaceAll(/^ \n/gm, "\n"),
  (_, patch) => patch.replaceAll("\r\n", "\n"),
  (_, patch) => patch.replaceAll(/\r?\n/g, "\r\n"),
  (_, patch) => `${patch}-- \n2.39.5\n\n`,
  (_, patch) => `From someone\n\nSubject: a change\n---\n file | 2 +-\n\n${patch}`,
  (random, patch) =>
    `${patch}${random.pick(["garbage\n", "@@ -1", "@@ -", "\\ No", "\\ No newline at all", " a\n", "+a\n"])}`,
  changeHunks((random, hunks) => hunks.toSorted(() => random.below(3) - 1)),
  changeHunks((_, hunks) => [...hunks, ...hunks]),
  changeHunks((random, hunks) => [...hunks, random.pick(hunks)]),
  changeHunks((random, hunks) => hunks.toSpliced(random.below(hunks.length), 1)),
  changeHunks((_, hunks) => hunks.toReversed()),
  changeHunks((random, hunks) => hunks.map((hunk) => renumbered(random, hunk))),
  changeHunks((random, hunks) =>
    hunks.map((hunk) => (random.oneIn(2) ? recounted(random, hunk) : hunk)),
  ),
  changeHunks((random, hunks) =>
    hunks.map((hunk) => (random.oneIn(2) ? withLessContext(random, hunk) : hunk)),
  ),
];

function changeLine(change: (random: Random, line: string) => string): Damage {
  return (random, patch) => {
    const lines = patch.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    // The two lines with the file's name stay: which names are taken is another test's matter.
    const at = 2 + random.below(Math.max(1, lines.length - 2));
    return lines.map((line, index) => (index === at ? change(random, line) : line)).join("");
  };
}

function changeHunks(change: (random: Random, hunks: string[]) => string[]): Damage {
  return (random, patch) => {
    const [header = "", ...hunks] = patch.split(/^(?=@@ -)/m);
    return hunks.length === 0 ? patch : header + change(random, hunks).join("");
  };
}

const NUMBERS = /^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@/;

/** Other line numbers, sometimes odd ones. */
function renumbered(random: Random, hunk: string): string {
  const other = (number: string): string =>
    random.pick([number, "0", "1", "2", "007", "99999", "2147483647", String(Number(number) + 1)]);
  return hunk.replace(NUMBERS, (_, ...groups: string[]) => {
    const [old, oldLines = "", added, addedLines = ""] = groups;
    return `@@ -${other(old ?? "")}${oldLines} +${other(added ?? "")}${addedLines} @@`;
  });
}

function recounted(random: Random, hunk: string): string {
  const other = (lines: string): string =>
    random.pick([
      lines,
      "",
      ",0",
      `,${Math.max(0, Number(lines.slice(1)) + random.below(3) - 1)}`,
      ",",
      ",99999999999",
    ]);
  return hunk.replace(NUMBERS, (_, ...groups: string[]) => {
    const [old, oldLines = "", added, addedLines = ""] = groups;
    return `@@ -${old}${other(oldLines)} +${added}${other(addedLines)} @@`;
  });
}

/** Takes context away at one end, and counts right again. */
function withLessContext(random: Random, hunk: string): string {
  const [header = "", ...lines] = hunk.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const counts = NUMBERS.exec(header);
  if (counts === null) return hunk;
  const less = (count = ",1"): string => `,${Number(count.slice(1)) - 1}`;
  const atEnd = random.oneIn(2);
  if (!lines.at(atEnd ? -1 : 0)?.startsWith(" ")) return hunk;
  const kept = atEnd ? lines.slice(0, -1) : lines.slice(1);
  const shift = atEnd ? 0 : 1;
  const [old, added] = [Number(counts[1]) + shift, Number(counts[3]) + shift];
  return `@@ -${old}${less(counts[2])} +${added}${less(counts[4])} @@\n${kept.join("")}`;
}
