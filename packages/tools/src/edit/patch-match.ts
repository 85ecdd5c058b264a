// Whether the lines of a hunk stand at one position. All of them must be there to the byte, untouched
// by earlier hunks. What `git apply` does with lines marked "\ No newline at end of file" is its own case.

import { runAt, type PatchImage } from "./patch-image.ts";
import { lineOf, type FileLines } from "./patch-lines.ts";

/** `same` is asked of the file's line and the index of the line it should be. */
export function matchesAt(
  image: PatchImage,
  position: number,
  count: number,
  same: (line: number, index: number) => boolean,
): boolean {
  let index = 0;
  while (index < count) {
    const found = runAt(image, position + index);
    if (found === undefined || found.run.placed !== undefined) return false;
    const { from, count: lines } = found.run;
    const end = from + lines;
    for (let line = from + position + index - found.start; line < end && index < count; line += 1) {
      if (!same(line, index)) return false;
      index += 1;
    }
  }
  return true;
}

/** Whether a line of the hunk has no line feed, so that the next one would run on from it. */
export function runsOn({ file }: FileLines, before: readonly string[]): boolean {
  return file.unit === 1 && before.some((line) => !line.endsWith("\n"));
}

/**
 * A line marked as having no line feed also matches one that has it, or white space before it, where
 * the lines joined are the beginning of what is there. The whole lines are replaced then. At the end of
 * the file (`atEnd`) nothing may be left over.
 */
export function matchesRunOn(
  { image, lines }: { image: PatchImage; lines: FileLines },
  position: number,
  before: readonly string[],
  atEnd: boolean,
): boolean {
  const joined = before.join("");
  let used = 0;
  let present = 0;
  const same = (line: number, index: number): boolean => {
    const there = lineOf(lines, line);
    if (withoutSpace(there) !== withoutSpace(before[index] ?? "")) return false;
    const part = joined.slice(used, used + there.length);
    used += part.length;
    present += there.length;
    return there.startsWith(part);
  };
  if (!matchesAt(image, position, before.length, same)) return false;
  return used === joined.length && (!atEnd || present === joined.length);
}

function withoutSpace(line: string): string {
  return line.replaceAll(/[ \t\r\n]+/g, "");
}
