// The file names in the header of a patch: plain, with a time after a tab, quoted as C strings; and
// whether one of them is the file a call is about.

import { readable } from "./patch-text.ts";

export interface NamedFile {
  /** `nothing`: there is no file on this side, /dev/null. */
  kind: "file" | "nothing";
  name: string;
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
export function isNameOf(name: string, paths: readonly string[]): boolean {
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
