// Tab: the commands of the conversation at the beginning of a line, and files of the project behind an @.

import { readdir } from "node:fs/promises";
import { isWithin } from "@soong/core/internal";
import { resolvePath } from "@soong/tools";
import { visibleLine } from "../output/index.ts";
import { findMention } from "./typed-line.ts";

const MOST_CANDIDATES = 100;

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
          return entry.isDirectory() ? findMention(`${path}/`) : `${findMention(path)} `;
        })
        .toSorted()
        .slice(0, MOST_CANDIDATES)
    );
  } catch {
    return [];
  }
}
