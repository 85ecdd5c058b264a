// How programs take their options (PERM-16): one notation for every table of them, and one reader.
//
//   -abc --word        without a value: three letters, a word; with a kind: -a|--word!KIND
//   -ab|--word=KIND    with a value of that kind, attached or the next argument
//   -a|--word?KIND     with a value only where it is attached
//   :KIND  :KIND,REST  what the operands are: all the same, or a first one unlike the rest
//   @mark  @mark=text  anything else that is known of the program
//
// With `@expression`, as find has it, a name is a whole word behind one dash. Where only a few options of a program are listed, a word
// may be any that begins with `--word*`, and a name without a dash is an operand.

export interface Option {
  readonly name: string;
  readonly kind: string;
  readonly value: "none" | "next" | "attached";
}

export interface OptionTable {
  /** By `-x` or `--word`. */
  readonly options: ReadonlyMap<string, Option>;
  readonly operands: readonly string[];
  readonly marks: ReadonlyMap<string, string>;
}

const VALUES = { "": "none", "!": "none", "=": "next", "?": "attached" } as const;
const tables = new Map<string, OptionTable>();

/** Read once, however often it is asked for. */
export function optionTable(text: string): OptionTable {
  const known = tables.get(text);
  if (known !== undefined) return known;
  const options = new Map<string, Option>();
  const marks = new Map<string, string>();
  let operands: readonly string[] = [];
  const isExpression = text.includes("@expression");
  for (const token of text.split(/\s+/)) {
    const [, names = "", sign = "", kind = ""] = /^(!|[^=?!]*)(?:([=?!])(.*))?$/.exec(token) ?? [];
    if (token.startsWith(":")) operands = token.slice(1).split(",");
    else if (token.startsWith("@")) marks.set(names.slice(1), kind);
    else if (token !== "") {
      const all = names
        .split("|")
        .flatMap((name) =>
          isExpression || !/^-[^-]/.test(name)
            ? [name]
            : Array.from(name.slice(1), (letter) => `-${letter}`),
        );
      const value = VALUES[sign as keyof typeof VALUES];
      for (const name of all) options.set(name, { name, kind, value });
    }
  }
  const table = { options, operands, marks };
  tables.set(text, table);
  return table;
}

export interface FoundOption {
  readonly name: string;
  readonly kind: string;
  readonly value?: string | undefined;
  /** Its first and last word. */
  readonly at: number;
  readonly end: number;
}

export interface ReadArguments {
  readonly options: readonly FoundOption[];
  readonly operands: readonly string[];
  /** The word that was reached. */
  readonly at: number;
}

export interface Reading {
  readonly from?: number;
  /** At the first operand, as programs do that run the rest. Default: options may follow operands. */
  readonly stops?: boolean;
  /** `exact`: as the table has them, with every value. `lenient`: what is not in the table is a flag. Default: may be shortened. */
  readonly names?: "exact" | "lenient";
}

/** The word that is not understood, where there is one. */
export function readArguments(
  table: OptionTable,
  words: readonly string[],
  reading: Reading & { readonly names: "lenient" },
): ReadArguments;
export function readArguments(
  table: OptionTable,
  words: readonly string[],
  reading?: Reading,
): ReadArguments | string;
export function readArguments(
  { options: known, marks }: OptionTable,
  words: readonly string[],
  { from = 0, stops = false, names }: Reading = {},
): ReadArguments | string {
  const options: FoundOption[] = [];
  const operands: string[] = [];
  let at = from;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--") {
      at += 1;
      break;
    }
    // To `env` a lone dash says that the environment is empty.
    if (word === "-" && marks.has("assignments")) continue;
    if (!word.startsWith("-") || word === "-") {
      if (stops) break;
      operands.push(word);
      continue;
    }
    const numeric = marks.get("numeric");
    if (numeric !== undefined && (numeric === "" ? /^-\d+$/ : /^-[-+]?\d+$/).test(word)) {
      options.push({ name: word, kind: "number", at, end: at });
      continue;
    }
    const found = word.startsWith("--") ? readLong(word, at) : readLetters(word, at);
    if (found === undefined) return word;
    options.push(...found);
    at = found.at(-1)?.end ?? at;
  }
  if (!stops) operands.push(...words.slice(at));
  return { options, operands, at };

  function readLong(word: string, at: number): FoundOption[] | undefined {
    const [, given = "", attached] = /^(--[^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const option =
      known.get(given) ?? (names === "exact" ? undefined : findAbbreviated(known, given));
    if (option === undefined) return names === "lenient" ? [] : undefined;
    if (option.value === "next" && attached === undefined) return withNext(option, at);
    if (option.value === "none" && attached !== undefined && names === "exact") return undefined;
    return [{ ...option, value: attached, at, end: at }];
  }

  /** `-la` is two of them; what follows a letter that takes a value is the value. */
  function readLetters(word: string, at: number): FoundOption[] | undefined {
    const found: FoundOption[] = [];
    for (let index = 1; index < word.length; index += 1) {
      const option = known.get(`-${word.charAt(index)}`);
      const rest = word.slice(index + 1);
      if (option === undefined) {
        if (names !== "lenient") return undefined;
      } else if (option.value === "next") {
        if (rest !== "" && marks.has("detached")) return undefined;
        const last = rest === "" ? withNext(option, at) : [{ ...option, value: rest, at, end: at }];
        return last && [...found, ...last];
      } else if (option.value === "attached" && rest !== "") {
        return [...found, { ...option, value: rest, at, end: at }];
      } else found.push({ ...option, value: undefined, at, end: at });
    }
    return found;
  }

  function withNext(option: Option, at: number): FoundOption[] | undefined {
    const value = words[at + 1];
    return value === undefined && names === "exact"
      ? undefined
      : [{ ...option, value, at, end: at + 1 }];
  }
}

/** A beginning that could be several is refused by most programs. */
function findAbbreviated(known: OptionTable["options"], given: string): Option | undefined {
  const fitting = [...known.values()].filter(
    ({ name }) => given.length > 2 && name.startsWith(given),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

export interface PossibleOption extends Option {
  /** Undefined where it would be the next word. */
  readonly attached: string | undefined;
  /** Among other letters, one of which may take the rest for its value. */
  readonly isDoubtful: boolean;
}

/** The options of a table that a word may be, regardless of the program's other options. */
export function possibleOptions(table: OptionTable, word: string): PossibleOption[] {
  const [, long, value] = /^(--[^=]+)(?:=(.*))?$/s.exec(word) ?? [];
  return [...table.options.values()].flatMap((option) => {
    const { name } = option;
    if (long !== undefined) {
      if (name !== long && table.options.has(long)) return [];
      const isMeant = name.endsWith("*")
        ? long.startsWith(name.slice(0, -1))
        : name.startsWith(long);
      return isMeant ? [{ ...option, attached: value, isDoubtful: false }] : [];
    }
    if (name === word) return [{ ...option, attached: undefined, isDoubtful: false }];
    const isLetter = /^-[^-]$/.test(name) && /^-[^-]/.test(word) && !table.marks.has("expression");
    const place = isLetter ? word.indexOf(name.charAt(1), 1) : -1;
    if (place === -1) return [];
    const attached = place === word.length - 1 ? undefined : word.slice(place + 1);
    return [{ ...option, attached, isDoubtful: place > 1 }];
  });
}

/** Whether one of these options may be among the words; none listed: always. */
export function hasOption(words: readonly string[], list: string): boolean {
  return list === "" || words.some((word) => listedOptions(list, word).length > 0);
}

/** The values of these options, attached or the next word. */
export function optionValues(words: readonly string[], list: string): string[] {
  return words.flatMap((word, index) =>
    listedOptions(list, word).map(({ attached }) => attached ?? words[index + 1] ?? ""),
  );
}

/**
 * Other letters may stand before one of them, with `@digits` also digits and `#`; what follows any other sign is a value: there is no
 * `-t` in `-S.txt`.
 */
function listedOptions(list: string, word: string): PossibleOption[] {
  const table = optionTable(list);
  const letters = table.marks.has("digits") ? /^-[A-Za-z0-9#]+$/ : /^-[A-Za-z]+$/;
  return possibleOptions(table, word).filter(
    ({ name, isDoubtful }) =>
      !isDoubtful || letters.test(word.slice(0, word.indexOf(name.charAt(1), 1))),
  );
}
