// What someone typed: a command of the conversation, or a prompt with the files it mentions.

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
export function findMention(path: string): string {
  return /[\s"]/.test(path) || BEHIND_A_WORD.test(path) ? `@"${path}"` : `@${path}`;
}

// Not within a word: an address of mail mentions no file.
const MENTION = /(?<![^\s([{"'])@(?:"([^"\n]+)"|([^\s@"][^\s"]*))/g;
const ESCAPED = /(^|[\s([{"'])@@/g;
/** The end of a sentence, a bracket that was opened before the mention. */
const BEHIND_A_WORD = /[,.;:!?)\]}'’]+$/;
