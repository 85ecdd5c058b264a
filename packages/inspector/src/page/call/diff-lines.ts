// A unified diff as numbered lines. Hunks are read by their counts: a removed line that begins with `-- ` is a line, not
// a header.

export interface DiffLine {
  /** A remark is `\ No newline at end of file`. */
  readonly kind: "head" | "hunk" | "same" | "added" | "removed" | "remark";
  readonly text: string;
  /** The numbers of the line before and after. */
  readonly old?: number;
  readonly new?: number;
}

export function diffLines(diff: string): DiffLine[] {
  let [before, after, oldLeft, newLeft] = [0, 0, 0, 0];
  return diff
    .replace(/\n$/, "")
    .split("\n")
    .map((line): DiffLine => {
      const sign = line.charAt(0);
      const text = line.slice(1);
      if (sign === "\\") return { kind: "remark", text: text.trim() };
      if (sign === "-" && oldLeft > 0) {
        oldLeft -= 1;
        return { kind: "removed", text, old: before++ };
      }
      if (sign === "+" && newLeft > 0) {
        newLeft -= 1;
        return { kind: "added", text, new: after++ };
      }
      if ((sign === " " || line === "" || line === "\r") && oldLeft + newLeft > 0) {
        oldLeft -= 1;
        newLeft -= 1;
        return { kind: "same", text, old: before++, new: after++ };
      }
      const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
      if (hunk === null) return { kind: "head", text: line };
      [before = 0, oldLeft = 0, after = 0, newLeft = 0] = hunk
        .slice(1)
        .map((number: string | undefined) => Number(number ?? 1));
      return { kind: "hunk", text: line };
    });
}
