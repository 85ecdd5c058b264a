// Says in words what differs between a text that was looked for and the text that is there (EDIT-5):
// white space, quotes, digits, letter case and the like each by name, anything else as an excerpt.

import { foldsAlike, classifyCharacter } from "./fold.ts";

/** `firstLine` is the number of the line where `actual` begins. */
export function differences(old: string, actual: string, where: Where): string[] {
  const found = new Map<string, { words: string; line: number; more: number }>();
  let line = where.firstLine;
  let at = 0;
  let there = 0;
  const note = (kind: string, one: string, other: string): void => {
    const known = found.get(kind);
    if (known) known.more += 1;
    else
      found.set(kind, { words: `${kind}: old has ${one}, the file has ${other}`, line, more: 0 });
  };
  while ((at < old.length || there < actual.length) && at < MOST_COMPARED) {
    const one = old[at] ?? "";
    const other = actual[there] ?? "";
    if (one === other && PLAIN.test(one)) {
      at += 1;
      there += 1;
      continue;
    }
    const kinds = [classifyCharacter(one), classifyCharacter(other)];
    if (one !== other && kinds[0] === "invisible") {
      note("an invisible character", nameCharacter(one), "none there");
      at += 1;
    } else if (one !== other && kinds[1] === "invisible") {
      note("an invisible character", "none there", nameCharacter(other));
      there += 1;
    } else if (kinds.includes("space")) {
      const given = spaceAt(old, at);
      const present = spaceAt(actual, there);
      const startsLine = there === 0 ? where.startsLine : actual[there - 1] === "\n";
      const endsText = there + present.length >= actual.length && at + given.length >= old.length;
      noteSpace(given, present, { startsLine, endsText }, note);
      line += count(present, "\n");
      at += given.length;
      there += present.length;
    } else if (kinds[0] === "digit" && kinds[1] === "digit") {
      const given = /^\d+/.exec(old.slice(at, at + 40))?.[0] ?? "";
      const present = /^\d+/.exec(actual.slice(there, there + 40))?.[0] ?? "";
      if (given !== present) note("digits", given, present);
      at += given.length;
      there += present.length;
    } else if (one === other) {
      at += 1;
      there += 1;
    } else if (one !== "" && other !== "" && foldsAlike(one, other)) {
      note(
        KIND_NAMES.find(([kind]) => kinds.includes(kind))?.[1] ?? "letter case",
        nameCharacter(one),
        nameCharacter(other),
      );
      at += 1;
      there += 1;
    } else {
      const [given, present] = excerpts(lineRest(old, at), lineRest(actual, there));
      note("text", given, present);
      break;
    }
  }
  return [...found.values()].map(
    ({ words, line, more }) => `${words} (line ${line}${more > 0 ? ` and ${more} more` : ""})`,
  );
}

export interface Where {
  firstLine: number;
  /** Whether `actual` begins at the beginning of its line. */
  startsLine: boolean;
}

/** Both texts quoted around the first difference. */
export function excerpts(old: string, actual: string): [string, string] {
  let start = 0;
  while (start < Math.min(old.length, actual.length) && old[start] === actual[start]) start += 1;
  const from = Math.max(0, start - EXCERPT_LEAD);
  const quoted = (text: string): string => {
    if (text === "") return "nothing";
    const part = wholeCharacters(text.slice(from, from + EXCERPT_LENGTH));
    const after = text.length > from + EXCERPT_LENGTH ? "…" : "";
    return JSON.stringify(`${from > 0 ? "…" : ""}${part}${after}`);
  };
  return [quoted(old), quoted(actual)];
}

const MOST_COMPARED = 100_000;
/** Characters that need no closer look where both texts have them. A number is compared as one. */
const PLAIN = /[!-/:-~]/;
const EXCERPT_LEAD = 20;
const EXCERPT_LENGTH = 80;

type Note = (kind: string, given: string, present: string) => void;

function noteSpace(
  given: string,
  present: string,
  where: { startsLine: boolean; endsText: boolean },
  note: Note,
): void {
  if (given === present) return;
  if (count(given, "\n") !== count(present, "\n")) {
    note("line breaks", spaceWords(given), spaceWords(present));
    return;
  }
  const givenParts = given.split("\n");
  for (const [index, there] of present.split("\n").entries()) {
    const here = givenParts[index] ?? "";
    if (here === there) continue;
    const last = index === givenParts.length - 1;
    const kind =
      index > 0 && last
        ? "indentation"
        : !last || where.endsText
          ? "white space at the end of a line"
          : where.startsLine
            ? "indentation"
            : "white space";
    note(kind, spaceWords(here), spaceWords(there));
  }
}

function spaceWords(space: string): string {
  const words: string[] = [];
  for (const run of space.match(/ +|\t+|\n+|[^ \t\n]/g) ?? []) {
    const name = run[0] === " " ? "space" : run[0] === "\t" ? "tab" : "line break";
    words.push(
      /[ \t\n]/.test(run)
        ? `${run.length} ${name}${run.length > 1 ? "s" : ""}`
        : nameCharacter(run),
    );
  }
  if (words.length === 0) return "none";
  return words.length > 6 ? `${words.slice(0, 6).join(", ")}, …` : words.join(", ");
}

const KIND_NAMES = [
  ["quote", "quotes"],
  ["dash", "dash"],
  ["full_width", "full-width character"],
] as const;

function nameCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code > 0x20 && code < 0x7f) return character;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const known = NAMES[name];
  if (known !== undefined) return `${name} (${known})`;
  return /[\p{L}\p{P}\p{S}]/u.test(character) ? `${character} (${name})` : name;
}

const NAMES: Readonly<Record<string, string>> = {
  "U+000D": "carriage return",
  "U+00A0": "no-break space",
  "U+00AD": "soft hyphen",
  "U+200B": "zero width space",
  "U+200D": "zero width joiner",
  "U+3000": "ideographic space",
  "U+FEFF": "byte order mark",
};

function spaceAt(text: string, at: number): string {
  let end = at;
  while (end < text.length && classifyCharacter(text[end] ?? "") === "space") end += 1;
  return text.slice(at, end);
}

function lineRest(text: string, at: number): string {
  const end = text.indexOf("\n", at);
  return text.slice(
    Math.max(0, at - EXCERPT_LEAD, text.lastIndexOf("\n", at) + 1),
    end === -1 ? undefined : end,
  );
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** Cutting a text can leave half a character at either end, which not every reader of JSON takes. */
export function wholeCharacters(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}
