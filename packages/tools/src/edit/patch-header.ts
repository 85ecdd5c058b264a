// Finds where the hunks of a patch begin and what the lines above them say (EDIT-3): which file they
// name, whether they create it, and what this kind of edit refuses: another file, a rename, a copy, a
// deletion, a change of mode, binary data. Works on byte strings, as the hunks do.

import { HUNK_MARK, readHunkHeader } from "./patch-hunks.ts";
import { lineAt, lineNumberAt } from "./patch-text.ts";
import { readGitNames, readName, type NamedFile } from "./patch-name.ts";
import type { PlanError } from "./planned-text.ts";

export interface PatchHeader {
  /** Offset of the first hunk. */
  hunksAt: number;
  /** As written; empty for hunks without a header. */
  names: NamedFile[];
  /** `guess`: a plain header over a missing file may mean that the patch creates it. */
  creates: "yes" | "no" | "guess";
}

export type ReadHeader =
  | { found: "header"; header: PatchHeader }
  | { found: "nothing" }
  | { found: "error"; error: PlanError };

export function findHeader(patch: string, from: number): ReadHeader {
  let stray: number | undefined;
  let at = from;
  while (at < patch.length) {
    const line = lineAt(patch, at);
    const git = line.startsWith("diff --git ") ? readGitHeader(patch, at) : undefined;
    if (git !== undefined) return git;
    if (isNamePair(patch, at)) return readPlainHeader(patch, at);
    if (readHunkHeader(line) !== undefined) {
      if (stray !== undefined) return strayNames(patch, stray);
      return { found: "header", header: { hunksAt: at, names: [], creates: "guess" } };
    }
    if (/^(?:---|\+\+\+|diff --git) /.test(line)) stray ??= at;
    if (isBinary(line)) return unsupported("is binary");
    at += line.length;
  }
  return { found: "nothing" };
}

function isNamePair(patch: string, at: number): boolean {
  if (!patch.startsWith("--- ", at)) return false;
  const second = at + lineAt(patch, at).length;
  if (!patch.startsWith("+++ ", second)) return false;
  return patch.startsWith(HUNK_MARK, second + lineAt(patch, second).length);
}

function readPlainHeader(patch: string, at: number): ReadHeader {
  const first = lineAt(patch, at);
  const second = lineAt(patch, at + first.length);
  const old = readName(first.slice(4));
  const named = readName(second.slice(4));
  if (named.kind === "nothing") return unsupported("deletes the file");
  return {
    found: "header",
    header: {
      hunksAt: at + first.length + second.length,
      names: [old, named],
      creates: old.kind === "nothing" ? "yes" : "guess",
    },
  };
}

/** Undefined when nothing after the line `diff --git` belongs to it. */
function readGitHeader(patch: string, start: number): ReadHeader | undefined {
  const first = lineAt(patch, start);
  const names: NamedFile[] = [];
  let creates: PatchHeader["creates"] = "no";
  let at = start + first.length;
  while (at < patch.length && !patch.startsWith(HUNK_MARK, at)) {
    const line = lineAt(patch, at);
    const refused = REFUSED.find(([beginning]) => line.startsWith(beginning));
    if (refused !== undefined) return unsupported(refused[1]);
    if (line.startsWith("new file mode ")) {
      if (!/^new file mode 100644\r?\n?$/.test(line)) return unsupported("sets a file mode");
      creates = "yes";
    } else if (line.startsWith("--- ") || line.startsWith("+++ ")) {
      // Git's own headers say by lines of their own what is created or deleted; times are no hint.
      const { name } = readName(line.slice(4));
      if (name === "/dev/null" && line.startsWith("+++ ")) return unsupported("deletes the file");
      if (name === "/dev/null") creates = "yes";
      names.push({ kind: name === "/dev/null" ? "nothing" : "file", name });
    } else if (!/^(?:dis)?similarity index |^index /.test(line)) {
      break;
    }
    at += line.length;
  }
  if (!patch.startsWith(HUNK_MARK, at)) {
    return at === start + first.length ? undefined : { found: "nothing" };
  }
  const named = names.length > 0 ? names : readGitNames(first.slice("diff --git ".length));
  return { found: "header", header: { hunksAt: at, names: named, creates } };
}

const REFUSED: readonly (readonly [string, string])[] = [
  ["old mode ", "changes the file mode"],
  ["new mode ", "changes the file mode"],
  ["deleted file mode ", "deletes the file"],
  ["copy from ", "copies a file"],
  ["copy to ", "copies a file"],
  ["rename old ", "renames the file"],
  ["rename new ", "renames the file"],
  ["rename from ", "renames the file"],
  ["rename to ", "renames the file"],
  ["GIT binary patch", "is binary"],
  ["Binary files ", "is binary"],
];

function isBinary(line: string): boolean {
  return (
    line.startsWith("GIT binary patch") || /^(?:Binary files|Files) .* differ\r?\n?$/.test(line)
  );
}

function unsupported(what: string): ReadHeader {
  return {
    found: "error",
    error: {
      code: "unsupported_patch",
      message:
        `The patch ${what}, which this tool does not do: it only changes the text of one file. ` +
        "Leave that part out of the patch, or use another tool for it.",
    },
  };
}

function strayNames(patch: string, at: number): ReadHeader {
  return {
    found: "error",
    error: {
      code: "patch_apply_failed",
      message:
        `The patch names a file at its line ${lineNumberAt(patch, at)}, but not as a header: the lines ` +
        "`--- a/path` and `+++ b/path` must stand together, directly above the first @@. Write them so, or leave both out.",
    },
  };
}
