// Which operands grep and ripgrep search: the first one is the pattern, unless an option gives that. Pure.

export interface SearchOptions {
  /** Letters without and with a value. */
  readonly flags: string;
  readonly values: string;
  /** The same as words. */
  readonly long: ReadonlySet<string>;
  readonly longValues: ReadonlySet<string>;
  /** Options with which no operand is the pattern. */
  readonly withoutPattern: RegExp;
}

/** Undefined where an option is not known: any argument may be its value. */
export function searchedOperands(
  args: readonly string[],
  options: SearchOptions,
): readonly string[] | undefined {
  const operands: string[] = [];
  let hasPattern = false;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    if (arg === "--") {
      operands.push(...args.slice(at + 1));
      break;
    }
    if (!arg.startsWith("-") || arg === "-") {
      operands.push(arg);
      continue;
    }
    const found = arg.startsWith("--") ? longOption(arg, options) : shortOptions(arg, options);
    if (found === undefined) return undefined;
    hasPattern ||= found.names.some((name) => options.withoutPattern.test(name));
    if (found.takesNext) at += 1;
  }
  return hasPattern ? operands : operands.slice(1);
}

interface FoundOptions {
  readonly names: readonly string[];
  readonly takesNext: boolean;
}

function longOption(arg: string, { long, longValues }: SearchOptions): FoundOptions | undefined {
  const [name = "", value] = arg.slice(2).split(/=(.*)/s);
  if (!long.has(name) && !longValues.has(name)) return undefined;
  return { names: [name], takesNext: value === undefined && longValues.has(name) };
}

function shortOptions(arg: string, { flags, values }: SearchOptions): FoundOptions | undefined {
  const names: string[] = [];
  for (let at = 1; at < arg.length; at += 1) {
    const letter = arg.charAt(at);
    names.push(letter);
    if (values.includes(letter)) return { names, takesNext: at === arg.length - 1 };
    if (!flags.includes(letter)) return undefined;
  }
  return { names, takesNext: false };
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

export const GREP_OPTIONS: SearchOptions = {
  flags: "EFGHILPRTUVabchilnoqrsvwxyzZ0123456789",
  values: "ABCDdefm",
  long: words(`basic-regexp extended-regexp fixed-strings perl-regexp ignore-case no-ignore-case word-regexp line-regexp
    count color colour files-with-matches files-without-match only-matching quiet silent no-messages byte-offset with-filename
    no-filename line-number initial-tab null null-data text invert-match recursive dereference-recursive line-buffered binary`),
  longValues:
    words(`after-context before-context binary-files devices directories exclude exclude-dir exclude-from include
    label max-count regexp file`),
  withoutPattern: /^(?:[ef]|regexp|file)$/,
};

export const RIPGREP_OPTIONS: SearchOptions = {
  flags: "FHILNPSUVabchilnopqsuvwxz0.",
  values: "ABCEMTdefgjmrt",
  long: words(`case-sensitive column count count-matches crlf debug files files-with-matches files-without-match
    fixed-strings follow heading hidden ignore-case invert-match json line-number line-regexp multiline multiline-dotall
    no-config no-filename no-heading no-ignore no-ignore-vcs no-line-number no-messages null null-data only-matching
    passthru pcre2 pretty quiet search-zip smart-case stats text trim type-list unrestricted vimgrep with-filename word-regexp`),
  longValues:
    words(`after-context before-context color colors context context-separator encoding engine file glob iglob
    ignore-file max-columns max-count max-depth max-filesize path-separator pre pre-glob regexp replace sort sortr threads
    type type-add type-clear type-not`),
  withoutPattern: /^(?:[ef]|regexp|file|files|type-list)$/,
};
