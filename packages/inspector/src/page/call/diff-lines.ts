// A unified diff as numbered lines. Hunks are read by their counts: a removed line that begins with `-- ` is a line, not
// a header.

export type DiffLine =
  | { readonly kind: "head"; readonly text: string }
  | { readonly kind: "hunk"; readonly text: string }
  | { readonly kind: "same"; readonly text: string; readonly old: number; readonly new: number }
  | { readonly kind: "added"; readonly text: string; readonly new: number }
  | { readonly kind: "removed"; readonly text: string; readonly old: number }
  /** `\ No newline at end of file` */
  | { readonly kind: "remark"; readonly text: string };

export function diffLines(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let hunk = { old: 0, new: 0, oldLeft: 0, newLeft: 0 };
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const sign = line.charAt(0);
    const text = line.slice(1);
    if (sign === "\\") {
      lines.push({ kind: "remark", text: text.trim() });
    } else if (sign === "-" && hunk.oldLeft > 0) {
      lines.push({ kind: "removed", text, old: hunk.old });
      hunk.old += 1;
      hunk.oldLeft -= 1;
    } else if (sign === "+" && hunk.newLeft > 0) {
      lines.push({ kind: "added", text, new: hunk.new });
      hunk.new += 1;
      hunk.newLeft -= 1;
    } else if ((sign === " " || line === "" || line === "\r") && hunk.oldLeft + hunk.newLeft > 0) {
      lines.push({ kind: "same", text, old: hunk.old, new: hunk.new });
      hunk.old += 1;
      hunk.new += 1;
      hunk.oldLeft -= 1;
      hunk.newLeft -= 1;
    } else {
      const begun = hunkOf(line);
      if (begun !== undefined) hunk = begun;
      lines.push({ kind: begun === undefined ? "head" : "hunk", text: line });
    }
  }
  return lines;
}

function hunkOf(
  line: string,
): { old: number; new: number; oldLeft: number; newLeft: number } | undefined {
  const found = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
  if (found === null) return undefined;
  const [, old, oldCount = "1", after, newCount = "1"] = found;
  return {
    old: Number(old),
    new: Number(after),
    oldLeft: Number(oldCount),
    newLeft: Number(newCount),
  };
}
