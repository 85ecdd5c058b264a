// Ways in which a text gets into an edit other than as it is in the file, each undone as a whole:
// copied from a numbered listing, escaped once too often or once too little, HTML entities.

export interface NearWriting {
  text: string;
  /** What has been undone; empty for the text as it was given. */
  words: string;
}

const ESCAPED_IN_FILE =
  'the file has escapes such as \\n or \\" written as two characters, old has the character meant';
const UNESCAPED: Readonly<Record<string, string>> = { "\\n": "\n", "\\t": "\t", "\\r": "" };
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
const DECODED: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&quot;": '"',
  "&apos;": "'",
  "&#39;": "'",
  "&#x27;": "'",
  "&nbsp;": "\u00a0",
};

/** Each: what of the text is replaced, by what, and what that undoes. */
const WRITINGS: readonly (readonly [RegExp, (part: string) => string, string])[] = [
  [
    /\\[ntr"'\\]/g,
    (part) => UNESCAPED[part] ?? part.slice(1),
    'old has escapes such as \\n or \\" written as two characters, the file has the character meant',
  ],
  [/[\n\t]/g, (part) => ESCAPED[part] ?? part, ESCAPED_IN_FILE],
  [/[\n\t"\\]/g, (part) => ESCAPED[part] ?? part, ESCAPED_IN_FILE],
  [
    /&(?:lt|gt|amp|quot|apos|#39|#x27|nbsp);/gi,
    (part) => DECODED[part.toLowerCase()] ?? part,
    "old has HTML entities such as &lt; or &amp;, the file has the character meant",
  ],
  [
    /[<>&]/g,
    (part) => ENTITY[part] ?? part,
    "the file has HTML entities such as &lt; or &amp;, old has the character meant",
  ],
  [
    /[<>&"]/g,
    (part) => ENTITY[part] ?? part,
    "the file has HTML entities such as &lt; or &quot;, old has the character meant",
  ],
];

/** The text itself comes first. */
export function nearWritings(text: string): NearWriting[] {
  const lines = text.split("\n");
  const isNumbered = lines.every((line) => LINE_NUMBER.test(line) || line.trim() === "");
  const writings = [
    { text, words: "" },
    {
      text: isNumbered ? lines.map((line) => line.replace(LINE_NUMBER, "")).join("\n") : text,
      words: "old begins its lines with line numbers copied from a listing, the file does not",
    },
    ...WRITINGS.map(([part, write, words]) => ({ text: text.replace(part, write), words })),
  ];
  const known = new Set<string>();
  return writings.filter((writing) => !known.has(writing.text) && known.add(writing.text));
}

const LINE_NUMBER = /^[ \t]*\d+(?:\t|→|: ?|-| ?\| ?)/;
