// What someone typed: a command of the conversation, a command to run, a note to remember, or a prompt with the files it
// mentions; and what Tab and a paste make of it.

import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { isWithin } from "@soong/core/internal";
import { resolvePath } from "@soong/tools";
import { visibleLine } from "../output/index.ts";

export type TypedLine =
  | { readonly kind: "command"; readonly name: string; readonly rest: string }
  /** `!git status` */
  | { readonly kind: "shell"; readonly command: string }
  /** `# We use tabs.` */
  | { readonly kind: "note"; readonly text: string }
  | { readonly kind: "prompt"; readonly text: string; readonly mentions: readonly string[] };

/** `//` begins a prompt with one slash, `\!` and `\#` one with what is behind the backslash, `@@` a word with one at sign. */
export function readTypedLine(typed: string): TypedLine {
  const line = typed.trim();
  if (/^\\[!#]/.test(line)) return readPrompt(line.slice(1));
  if (line === "exit" || line === "quit") return { kind: "command", name: "quit", rest: "" };
  if (line.startsWith("!")) return { kind: "shell", command: line.slice(1).trim() };
  // A pasted page may begin with a heading.
  const [, note] = /^#[ \t]+(.+)$/.exec(line) ?? [];
  if (note !== undefined) return { kind: "note", text: note.trim() };
  if (line.startsWith("/") && !line.startsWith("//")) {
    const [, name = "", rest = ""] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
    return { kind: "command", name, rest: rest.trim() };
  }
  return readPrompt(line.startsWith("//") ? line.slice(1) : line);
}

/** A text that is a prompt, however it begins. */
export function readPrompt(line: string): Extract<TypedLine, { kind: "prompt" }> {
  const text = line.replaceAll(ESCAPED, "$1@");
  const mentions = [...line.matchAll(MENTION)].flatMap(([, quoted, plain]) => {
    const path = quoted ?? plain?.replace(BEHIND_A_WORD, "") ?? "";
    return path === "" ? [] : [path];
  });
  return { kind: "prompt", text, mentions: [...new Set(mentions)] };
}

/** How this prompt is typed, so that reading it back runs and remembers nothing. */
export function writePrompt(text: string): string {
  const line = text.trim();
  if (line.startsWith("/")) return `/${line}`;
  return ["shell", "note"].includes(readTypedLine(line).kind) ? `\\${line}` : text;
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

/** A path of an image, as terminals paste or drop one, becomes its mention; anything else stays as it is. */
export function readPaste(text: string): string {
  const [, single, double, plain = ""] = PASTED_PATH.exec(text.trim()) ?? [];
  const path = decodeFileUrl(single ?? double ?? plain.replaceAll(/\\(.)/g, "$1"));
  const isImage = IMAGE.test(path) && /^(?:\/|~\/|\.{0,2}\/)/.test(path);
  return isImage && !path.includes('"') ? `${writeMention(path)} ` : text;
}

const PASTED_PATH = /^(?:'([^'\n]+)'|"([^"\n]+)"|((?:[^\s'"\\]|\\[^\n])+))$/;

/** By its name: what it is, is seen when it is read. */
export const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

function decodeFileUrl(path: string): string {
  if (!path.startsWith("file://")) return path;
  try {
    return fileURLToPath(path);
  } catch {
    return path;
  }
}

/** The commands of the conversation at the beginning of a line, and files of the project behind an @. */
export function completeWord(
  project: string,
  listCommands: () => Promise<readonly string[]>,
): (word: string, line: string) => Promise<readonly string[]> {
  return async (word, line) => {
    if (word.startsWith("/") && line.trimStart().startsWith(word)) {
      const commands = await listCommands();
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
