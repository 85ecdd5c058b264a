// What someone typed: a command of the conversation, or a prompt with the files it mentions; and what Tab makes of it.

import { readdir } from "node:fs/promises";
import { isWithin } from "@soong/core/internal";
import { resolvePath } from "@soong/tools";
import { visibleLine } from "../output/index.ts";

export type TypedLine =
  | { readonly kind: "command"; readonly name: string; readonly rest: string }
  | { readonly kind: "prompt"; readonly text: string; readonly mentions: readonly string[] };

/** `//` begins a prompt with one slash, `@@` a word with one at sign. */
export function readTypedLine(typed: string): TypedLine {
  const line = typed.trim();
  if (line.startsWith("/") && !line.startsWith("//")) {
    const [, name = "", rest = ""] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
    return { kind: "command", name, rest: rest.trim() };
  }
  const text = (line.startsWith("//") ? line.slice(1) : line).replaceAll(ESCAPED, "$1@");
  const mentions = [...line.matchAll(MENTION)].flatMap(([, quoted, plain]) => {
    const path = quoted ?? plain?.replace(BEHIND_A_WORD, "") ?? "";
    return path === "" ? [] : [path];
  });
  return { kind: "prompt", text, mentions: [...new Set(mentions)] };
}

/** How a path is mentioned, so that it is read as one word. */
export function writeMention(path: string): string {
  return /[\s"]/.test(path) || BEHIND_A_WORD.test(path) ? `@"${path}"` : `@${path}`;
}

// Not within a word: an address of mail mentions no file.
const MENTION = /(?<![^\s([{"'])@(?:"([^"\n]+)"|([^\s@"][^\s"]*))/g;
const ESCAPED = /(^|[\s([{"'])@@/g;
/** The end of a sentence, a bracket that was opened before the mention. */
const BEHIND_A_WORD = /[,.;:!?)\]}'’]+$/;

const MOST_CANDIDATES = 100;

/** The commands of the conversation at the beginning of a line, and files of the project behind an @. */
export function completeWord(
  project: string,
  commands: readonly string[],
): (word: string, line: string) => Promise<readonly string[]> {
  return async (word, line) => {
    if (word.startsWith("/") && line.trimStart().startsWith(word)) {
      return commands.map((name) => `/${name} `).filter((name) => name.startsWith(word));
    }
    const [, typed] = /^@"?(.*)$/s.exec(word) ?? [];
    return typed === undefined ? [] : filesLike(project, typed);
  };
}

/** Only looks into the project; what begins with a dot has to be asked for. */
async function filesLike(project: string, typed: string): Promise<string[]> {
  const slash = typed.lastIndexOf("/") + 1;
  const folder = typed.slice(0, slash);
  const start = typed.slice(slash);
  try {
    const directory = await resolvePath(project, folder === "" ? "." : folder);
    if (!isWithin(project, directory)) return [];
    const entries = await readdir(directory, { withFileTypes: true });
    return (
      entries
        .filter(({ name }) => name.startsWith(start) && (start !== "" || !name.startsWith(".")))
        // A name that would have to be written out could not be typed back.
        .filter(({ name }) => visibleLine(name) === name && !name.includes('"'))
        .map((entry) => {
          const path = `${folder}${entry.name}`;
          return entry.isDirectory() ? writeMention(`${path}/`) : `${writeMention(path)} `;
        })
        .toSorted()
        .slice(0, MOST_CANDIDATES)
    );
  } catch {
    return [];
  }
}
