// Ways in which a text gets into an edit other than as it stands in the file, each undone as a whole:
// copied from a numbered listing, escaped once too often or once too little, HTML entities.

export interface OtherWriting {
  text: string;
  /** What has been undone; empty for the text as it was given. */
  words: string;
}

/** The text itself comes first. */
export function otherWritings(text: string): OtherWriting[] {
  const writings: OtherWriting[] = [
    { text, words: "" },
    {
      text: withoutLineNumbers(text),
      words: "old begins its lines with line numbers copied from a listing, the file does not",
    },
    {
      text: text.replace(/\\([ntr"'\\])/g, (_, code: string) => UNESCAPED[code] ?? code),
      words:
        'old has escapes such as \\n or \\" written as two characters, the file has the character meant',
    },
    {
      text: text.replace(/[\n\t]/g, (character) => ESCAPED[character] ?? character),
      words: ESCAPED_IN_FILE,
    },
    {
      text: text.replace(/[\n\t"\\]/g, (character) => ESCAPED[character] ?? character),
      words: ESCAPED_IN_FILE,
    },
    {
      text: text.replace(/&(?:lt|gt|amp|quot|apos|#39|#x27|nbsp);/gi, decodedEntity),
      words: "old has HTML entities such as &lt; or &amp;, the file has the character meant",
    },
    {
      text: text.replace(/[<>&]/g, (character) => ENTITY[character] ?? character),
      words: "the file has HTML entities such as &lt; or &amp;, old has the character meant",
    },
    {
      text: text.replace(/[<>&"]/g, (character) => ENTITY[character] ?? character),
      words: "the file has HTML entities such as &lt; or &quot;, old has the character meant",
    },
  ];
  const known = new Set<string>();
  return writings.filter((writing) => !known.has(writing.text) && known.add(writing.text));
}

function withoutLineNumbers(text: string): string {
  const lines = text.split("\n");
  const numbered = lines.every((line) => LINE_NUMBER.test(line) || line.trim() === "");
  return numbered ? lines.map((line) => line.replace(LINE_NUMBER, "")).join("\n") : text;
}

const LINE_NUMBER = /^[ \t]*\d+(?:\t|→|: ?|-| ?\| ?)/;

const ESCAPED_IN_FILE =
  'the file has escapes such as \\n or \\" written as two characters, old has the character meant';
const UNESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "" };
const ESCAPED: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\t": "\\t",
  '"': '\\"',
  "\\": "\\\\",
};
const ENTITY: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  '"': "&quot;",
};

function decodedEntity(entity: string): string {
  const name = entity.slice(1, -1).toLowerCase();
  return DECODED[name] ?? entity;
}

const DECODED: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  "#39": "'",
  "#x27": "'",
  nbsp: "\u00a0",
};
