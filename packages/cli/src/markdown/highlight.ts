// Colours for code, line by line: comments, strings, numbers, keywords. A line knows of those before it only whether it
// begins within a comment or a string.

import type { Span, Style } from "./wrap-words.ts";

/** What ends the comment or string a line begins in. */
export interface CodeState {
  readonly until: RegExp;
  readonly style: Style;
}

export interface ColouredLine {
  readonly spans: Span[];
  readonly state: CodeState | undefined;
}

/** An unknown language has no colours. */
export function highlightLine(
  line: string,
  name: string,
  before: CodeState | undefined,
): ColouredLine {
  if (name === "diff" || name === "patch") return { spans: [diffLine(line)], state: undefined };
  const language = findLanguage(name);
  if (language === undefined) return { spans: [{ text: line, styles: [] }], state: undefined };
  const spans: Span[] = [];
  let state = before;
  let at = 0;
  while (at < line.length) {
    if (state !== undefined) {
      const end = endOf(line, at, state.until);
      add(line.slice(at, end ?? line.length), state.style);
      if (end !== undefined) state = undefined;
      at = end ?? line.length;
      continue;
    }
    const found = matchAt(language.pattern, line, at);
    if (found === undefined) break;
    add(line.slice(at, found.index));
    const { begins, comment, string, number, word } = found.groups ?? {};
    const [text] = found;
    at = found.index + text.length;
    if (begins !== undefined) {
      const region = language.regions.find(([from]) => from === begins);
      state = region && { until: region[1], style: region[2] };
      add(text, state?.style);
    } else if (comment !== undefined) add(text, "dim");
    else if (string !== undefined) add(text, "green");
    else if (number !== undefined) add(text, "yellow");
    else add(text, word !== undefined && language.keywords.has(word) ? "magenta" : undefined);
  }
  add(line.slice(at));
  return { spans, state };

  function add(text: string, style?: Style): void {
    if (text !== "") spans.push({ text, styles: style === undefined ? [] : [style] });
  }
}

function endOf(line: string, from: number, until: RegExp): number | undefined {
  const found = matchAt(until, line, from);
  return found && found.index + found[0].length;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function diffLine(line: string): Span {
  const style: Style | undefined = /^(?:\+\+\+|---)/.test(line)
    ? "bold"
    : ({ "+": "green", "-": "red", "@": "cyan" } as const)[line.charAt(0)];
  return { text: line, styles: style === undefined ? [] : [style] };
}

type Region = readonly [from: string, until: RegExp, style: Style];

interface Language {
  readonly keywords: ReadonlySet<string>;
  readonly regions: readonly Region[];
  readonly pattern: RegExp;
}

const known = new Map<string, Language>();

function findLanguage(name: string): Language | undefined {
  const family = FAMILIES.find(({ names }) => names.split(" ").includes(name));
  if (family === undefined) return undefined;
  const made = known.get(name) ?? createLanguage(family);
  known.set(name, made);
  return made;
}

function createLanguage({ keywords, comment, regions = [], strings = `"'` }: Family): Language {
  const begins = regions.map(([from]) => escape(from)).join("|");
  // Not within a word: "don't" begins no string, f'x' does.
  const quoted = strings
    .split("")
    .map((mark) => `(?<![\\p{L}\\p{N}]{2})${mark}(?:\\\\.|[^\\\\${mark}])*${mark}`);
  const parts = [
    ...(begins === "" ? [] : [`(?<begins>${begins})`]),
    ...(comment === undefined ? [] : [`(?<comment>(?:${comment}).*)`]),
    ...(quoted.length === 0 ? [] : [`(?<string>${quoted.join("|")})`]),
    String.raw`(?<number>\b\d[\w.]*)`,
    String.raw`(?<word>[\p{L}_$][\p{L}\p{N}_$]*)`,
  ];
  return {
    keywords: new Set(keywords.split(" ")),
    regions,
    pattern: new RegExp(parts.join("|"), "gu"),
  };
}

function escape(text: string): string {
  return text.replaceAll(/[*/]/g, String.raw`\$&`);
}

interface Family {
  readonly names: string;
  readonly keywords: string;
  /** From here to the end of the line, as a pattern. */
  readonly comment?: string;
  /** May continue over the end of a line. */
  readonly regions?: readonly Region[];
  readonly strings?: string;
}

const BLOCK_COMMENT: Region = ["/*", /\*\//g, "dim"];
const TEMPLATE: Region = ["`", /(?<!\\)`/g, "green"];
const COMMON =
  "abstract as async await bool boolean break byte case catch char class const continue default do double else enum export extends false final finally float for from func function if implements import in int interface internal let long namespace new null of override package private protected public return short static string struct super switch this throw true try type using var void while";
const SQL =
  "add all alter and as asc begin between by case commit create default delete desc distinct drop else end exists from group having in index inner insert into is join key left like limit not null offset on or order outer primary references right rollback select set table then union unique update using values view when where with";

const FAMILIES: readonly Family[] = [
  {
    names: "js javascript jsx mjs cjs ts typescript tsx mts cts",
    keywords: `${COMMON} declare delete get instanceof keyof readonly satisfies set typeof undefined yield`,
    comment: "//",
    regions: [BLOCK_COMMENT, TEMPLATE],
  },
  {
    names: "java kotlin kt scala groovy dart swift cs csharp c# php c h cpp c++ cc hpp objc zig",
    keywords: `${COMMON} auto constexpr data extern fn fun guard nil nullptr object open operator pub record sealed self signed sizeof template throws typedef typename union unsigned val virtual when where`,
    comment: "//",
    regions: [BLOCK_COMMENT],
  },
  {
    names: "go golang",
    keywords: `${COMMON} chan defer error fallthrough go goto iota map nil range select int64`,
    comment: "//",
    regions: [BLOCK_COMMENT, TEMPLATE],
  },
  {
    names: "rust rs",
    keywords: `${COMMON} crate dyn fn impl loop match mod move mut pub ref self Self trait unsafe use where i32 i64 u8 u32 u64 usize str String Vec Option Result Some None Ok Err`,
    comment: "//",
    regions: [BLOCK_COMMENT],
    strings: `"`,
  },
  {
    names: "py python",
    keywords:
      "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield self",
    comment: "#",
    regions: [
      [`"""`, /"""/g, "green"],
      ["'''", /'''/g, "green"],
    ],
  },
  {
    names: "rb ruby ex elixir pl perl r julia jl",
    keywords:
      "and begin break case class def defmodule defp do else elsif end ensure false fn for function if in module my next nil not or require rescue return self sub then true unless until use when while yield",
    comment: "#",
  },
  {
    names: "sh bash zsh shell console fish dockerfile docker makefile make",
    keywords:
      "case cd do done echo elif else esac eval exec exit export fi for function if in local read return set shift source then trap unset until while FROM RUN COPY ADD ENV ARG CMD ENTRYPOINT WORKDIR EXPOSE USER",
    comment: String.raw`(?<![^\s;(])#`,
  },
  {
    names: "yaml yml toml ini conf properties env hcl tf",
    keywords: "true false null yes no on off",
    comment: String.raw`(?<!\S)[#;]`,
  },
  { names: "json jsonc json5 jsonl", keywords: "true false null", comment: "//", strings: `"` },
  {
    names: "sql",
    keywords: `${SQL} ${SQL.toUpperCase()}`,
    comment: "--",
    regions: [BLOCK_COMMENT],
  },
  { names: "html xml svg vue svelte", keywords: "", regions: [["<!--", /-->/g, "dim"]] },
  { names: "css scss less", keywords: "", regions: [BLOCK_COMMENT] },
];
