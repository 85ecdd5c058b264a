// Finds where the hunks of a patch begin and what the lines above them say (EDIT-3): which file they
// name, whether they create it, and what this kind of edit refuses: another file, a rename, a copy, a
// deletion, a change of mode, binary data. Works on byte strings, as the hunks do. Names are plain, with a time
// after a tab, or quoted as C strings.

import { lineNumberAt } from "./find-places.ts";
import { HUNK_MARK, lineAt, readable, readHunkHeader } from "./patch-hunks.ts";
import { refusePlan, type RefusedPlan } from "./planned-text.ts";

export interface NamedFile {
  /** `nothing`: there is no file on this side, /dev/null. */
  kind: "file" | "nothing";
  name: string;
}

export interface PatchHeader {
  /** Offset of the first hunk. */
  hunksAt: number;
  /** As written; empty for hunks without a header. */
  names: NamedFile[];
  /** `guess`: a plain header over a missing file may mean that the patch creates it. */
  creates: "yes" | "no" | "guess";
}

/** Undefined where there is none. */
type ReadHeader = PatchHeader | RefusedPlan | undefined;

export function findHeader(patch: string, from: number): ReadHeader {
  let stray: number | undefined;
  let at = from;
  while (at < patch.length) {
    const line = lineAt(patch, at);
    const git = line.startsWith("diff --git ") ? readGitHeader(patch, at) : "none";
    if (git !== "none") return git;
    if (isNamePair(patch, at)) return readPlainHeader(patch, at);
    if (readHunkHeader(line) !== undefined) {
      if (stray !== undefined) return strayNames(patch, stray);
      return { hunksAt: at, names: [], creates: "guess" };
    }
    if (/^(?:---|\+\+\+|diff --git) /.test(line)) stray ??= at;
    if (BINARY.test(line)) return refuseUnsupported("is binary");
    at += line.length;
  }
  return undefined;
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
  if (named.kind === "nothing") return refuseUnsupported("deletes the file");
  return {
    hunksAt: at + first.length + second.length,
    names: [old, named],
    creates: old.kind === "nothing" ? "yes" : "guess",
  };
}

/** "none" when nothing after the line `diff --git` belongs to it. */
function readGitHeader(patch: string, start: number): ReadHeader | "none" {
  const first = lineAt(patch, start);
  const names: NamedFile[] = [];
  let creates: PatchHeader["creates"] = "no";
  let at = start + first.length;
  while (at < patch.length && !patch.startsWith(HUNK_MARK, at)) {
    const line = lineAt(patch, at);
    const refused = REFUSED.find(([beginning]) => beginning.test(line));
    if (refused !== undefined) return refuseUnsupported(refused[1]);
    if (line.startsWith("new file mode ")) {
      if (!/^new file mode 100644\r?\n?$/.test(line)) return refuseUnsupported("sets a file mode");
      creates = "yes";
    } else if (line.startsWith("--- ") || line.startsWith("+++ ")) {
      // Git's own headers say by lines of their own what is created or deleted; times are no hint.
      const { name } = readName(line.slice(4));
      if (name === "/dev/null" && line.startsWith("+++ "))
        return refuseUnsupported("deletes the file");
      if (name === "/dev/null") creates = "yes";
      names.push({ kind: name === "/dev/null" ? "nothing" : "file", name });
    } else if (!/^(?:dis)?similarity index |^index /.test(line)) {
      break;
    }
    at += line.length;
  }
  if (!patch.startsWith(HUNK_MARK, at)) return at === start + first.length ? "none" : undefined;
  const named = names.length > 0 ? names : readGitNames(first.slice("diff --git ".length));
  return { hunksAt: at, names: named, creates };
}

const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/^(?:old|new) mode /, "changes the file mode"],
  [/^deleted file mode /, "deletes the file"],
  [/^copy (?:from|to) /, "copies a file"],
  [/^rename (?:old|new|from|to) /, "renames the file"],
  [/^(?:GIT binary patch|Binary files )/, "is binary"],
];
const BINARY = /^(?:GIT binary patch|(?:Binary files|Files) .* differ\r?\n?$)/;

function refuseUnsupported(what: string): RefusedPlan {
  return refusePlan(
    "unsupported_patch",
    `The patch ${what}, which this tool does not do: it only changes the text of one file. ` +
      "Leave that part out of the patch, or use another tool for it.",
  );
}

function strayNames(patch: string, at: number): RefusedPlan {
  return refusePlan(
    "patch_apply_failed",
    `The patch names a file at its line ${lineNumberAt(patch, at)}, but not as a header: the lines ` +
      "`--- a/path` and `+++ b/path` must stand together, directly above the first @@. Write them so, or leave both out.",
  );
}

/** `line` is what comes after `--- ` or `+++ `. */
export function readName(line: string): NamedFile {
  const rest = line.slice(0, MOST_NAME);
  const quoted = readQuoted(rest);
  if (quoted !== undefined) return { kind: "file", name: readable(quoted.name) };
  const name = /^[^\t\r\n]*/.exec(rest)?.[0] ?? "";
  const nothing = name.trimEnd() === "/dev/null" || isTimeOfNothing(rest);
  return { kind: nothing ? "nothing" : "file", name: readable(name.trimEnd()) };
}

/** No path is longer; what is, is no name of this file. */
const MOST_NAME = 4096 * 4;

/** Of `diff --git a/x b/x`, where nothing but the repetition tells where the first name ends. */
export function readGitNames(rest: string): NamedFile[] {
  const line = rest.slice(0, 2 * MOST_NAME).replace(/[\r\n]+$/, "");
  const quoted = readQuoted(line);
  if (quoted !== undefined) {
    const second = line.slice(quoted.length).trimStart();
    return [asFile(quoted.name), asFile(readQuoted(second)?.name ?? second)];
  }
  for (let at = line.indexOf(" "); at !== -1; at = line.indexOf(" ", at + 1)) {
    const [first, second] = [line.slice(0, at), line.slice(at + 1)];
    const given = readQuoted(second)?.name ?? second;
    if (withoutPrefix(first) === withoutPrefix(given)) return [asFile(first), asFile(given)];
  }
  return [asFile(line)];
}

/** `paths`: the names the file goes by, relative or absolute. */
export function isNamed(name: string, paths: readonly string[]): boolean {
  const bare = withoutPrefix(name);
  const given = [normal(name), normal(bare)];
  // A prefix before an absolute path takes the place of its slash.
  if (bare !== name) given.push(normal(`/${bare}`));
  return paths.some((path) => given.includes(normal(path)));
}

function asFile(name: string): NamedFile {
  return { kind: "file", name: readable(name) };
}

/** Also those git writes for the index, the work tree, a commit and an object. */
function withoutPrefix(name: string): string {
  return name.replace(/^[abciow]\//, "");
}

function normal(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return (path.startsWith("/") ? "/" : "") + parts.join("/");
}

/** A file that never was has the time 0 in the output of `diff -N`. */
function isTimeOfNothing(rest: string): boolean {
  const time = /\t(\d{4}-\d\d-\d\d) (\d\d:\d\d:00)(?:\.0+)? ([-+]\d\d):?(\d\d)\r?\n?$/.exec(rest);
  if (time === null) return false;
  const [, day, hour, zone, minutes] = time;
  return Date.parse(`${day}T${hour}${zone}:${minutes}`) === 0;
}

/** The content of a C string at the beginning of `text`, and its length with the quotes. */
function readQuoted(text: string): { name: string; length: number } | undefined {
  const match = /^"((?:[^"\\\n]|\\(?:[abfnrtv"\\]|[0-3][0-7]{2}))*)"/.exec(text);
  if (match === null) return undefined;
  const [whole, content = ""] = match;
  const name = content.replaceAll(/\\([0-3][0-7]{2}|.)/g, (_, code: string) =>
    /^\d/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
  );
  return { name, length: whole.length };
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
