// Reads the arguments of a command the way the command itself would, and says whether every single one is
// among those a row of the table allows (CMD-4), or why not. Pure: what a path or a revision may be, `fits` decides.

import type { ArgumentKind, ReadOnlyRule } from "./read-only-rule.ts";

export type ArgumentCheck = (kind: ArgumentKind, value: string) => boolean;

/** A clause that says why the arguments are not known to be harmless. */
export type Unproven = string;

/** The options and operands that were found, or why one of them is not allowed. */
export function matchArguments(
  rule: ReadOnlyRule,
  given: readonly string[],
  fits: ArgumentCheck,
): MatchedArguments | Unproven {
  const read = rule.expression === true ? readExpression(rule, given) : readOptions(rule, given);
  if (typeof read === "string") return read;
  const { options, operands } = read;
  if (rule.needs !== undefined && !hasOneOf(options, rule.needs)) {
    return `it is proven only with ${oneOf(rule.needs)}`;
  }
  const needed = operands.length > 0 ? rule.operandsNeed : undefined;
  if (needed !== undefined && !hasOneOf(options, needed)) {
    return `${JSON.stringify(operands[0])} is only harmless with ${oneOf(needed)}`;
  }
  if (rule.needsOperand === true && operands.length === 0) return "it would show everything";
  const excess = operands[rule.mostOperands ?? operands.length];
  if (excess !== undefined) return `${JSON.stringify(excess)} may be written to`;
  for (const { name, kind, value } of options) {
    if (value !== undefined && !fits(kind, value)) {
      return `the value ${JSON.stringify(value)} of ${name} is not ${KINDS[kind]}`;
    }
  }
  const kinds = operandKinds(rule, options);
  for (const [index, operand] of operands.entries()) {
    const kind = index === 0 ? kinds.first : kinds.rest;
    if (kind === undefined) return `it takes no argument ${JSON.stringify(operand)}`;
    if (!fits(kind, operand)) return `${JSON.stringify(operand)} is not ${KINDS[kind]}`;
  }
  return read;
}

const KINDS: Readonly<Record<ArgumentKind, string>> = {
  text: "text",
  number: "a number",
  word: "a plain word",
  file: "an ordinary file inside the project",
  tree: "an ordinary file or directory inside the project",
  path: "an ordinary path inside the project",
  date_format: "a format that begins with +",
  revision: "a plain revision or path of this repository",
  head_revision: "a commit reached from HEAD",
  git_format: "a format of plain fields",
  awk_program: "an awk program that plainly reads its files and nothing else",
  jq_filter: "a jq filter that plainly reads its files and nothing else",
  sed_script: "a sed script of one plain command that prints or replaces",
  plain_variable: "a variable that is known to hold no secret",
  pager_file: "an ordinary file inside the project",
};

function oneOf(words: string): string {
  const options = [...wordsOf(words)];
  return options.length === 1 ? options.join("") : `one of ${options.join(" ")}`;
}

function unknownOption(argument: string): Unproven {
  return `the option ${JSON.stringify(argument)} is not known to be harmless`;
}

export interface MatchedArguments {
  readonly options: readonly FoundOption[];
  readonly operands: readonly string[];
}

export interface FoundOption {
  readonly name: string;
  readonly kind: ArgumentKind;
  readonly value?: string;
}

export function hasOneOf(options: readonly FoundOption[], names: string): boolean {
  const wanted = wordsOf(names);
  return options.some(({ name }) => wanted.has(name));
}

interface OptionKinds {
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, ArgumentKind>;
  readonly optional: ReadonlyMap<string, ArgumentKind>;
}

/** One dash and letters, two dashes and a word, `--` before operands only: as getopt has it. */
function readOptions(rule: ReadOnlyRule, given: readonly string[]): MatchedArguments | Unproven {
  const kinds = optionKinds(rule);
  const options: FoundOption[] = [];
  const operands: string[] = [];
  for (let at = 0; at < given.length; at += 1) {
    const argument = given[at] ?? "";
    if (argument === "--") {
      operands.push(...given.slice(at + 1));
      break;
    }
    if (!argument.startsWith("-") || argument === "-") {
      operands.push(argument);
      continue;
    }
    if (rule.numeric === true && /^-\d+$/.test(argument)) {
      options.push({ name: argument, kind: "number" });
      continue;
    }
    const found = argument.startsWith("--")
      ? longOption(kinds, argument, given[at + 1])
      : shortOptions(kinds, argument, given[at + 1], rule.detached === true);
    if (found === undefined) return unknownOption(argument);
    // A program told to be strict takes all that follows its first operand for operands, too.
    if (operands.length > 0 && rule.mixed !== true && !isHarmlessAsOperands(found)) {
      return `the option ${JSON.stringify(argument)} stands behind an argument`;
    }
    options.push(...found.options);
    if (found.tookNext) at += 1;
  }
  return { options, operands };
}

interface FoundOptions {
  readonly options: readonly FoundOption[];
  readonly tookNext: boolean;
}

function isHarmlessAsOperands({ options, tookNext }: FoundOptions): boolean {
  return options.every(
    ({ kind, value }) => value === undefined || kind === "number" || (kind === "word" && !tookNext),
  );
}

function longOption(
  kinds: OptionKinds,
  argument: string,
  next: string | undefined,
): FoundOptions | undefined {
  const equals = argument.indexOf("=");
  const name = equals === -1 ? argument : argument.slice(0, equals);
  const withValue = kinds.values.get(name);
  const kind = withValue ?? kinds.optional.get(name);
  if (equals !== -1) {
    return (
      kind && { options: [{ name, kind, value: argument.slice(equals + 1) }], tookNext: false }
    );
  }
  if (withValue !== undefined) {
    return next === undefined
      ? undefined
      : { options: [{ name, kind: withValue, value: next }], tookNext: true };
  }
  const isKnown = kind !== undefined || kinds.flags.has(name);
  return isKnown ? { options: [{ name, kind: kind ?? "text" }], tookNext: false } : undefined;
}

/** `-la` is two of them; what follows a letter that takes a value is the value. */
function shortOptions(
  kinds: OptionKinds,
  argument: string,
  next: string | undefined,
  isDetached: boolean,
): FoundOptions | undefined {
  const options: FoundOption[] = [];
  for (let at = 1; at < argument.length; at += 1) {
    const name = `-${argument.charAt(at)}`;
    const rest = argument.slice(at + 1);
    const withValue = kinds.values.get(name);
    if (withValue !== undefined) {
      const value = rest === "" ? next : rest;
      if (value === undefined || (isDetached && rest !== "")) return undefined;
      return { options: [...options, { name, kind: withValue, value }], tookNext: rest === "" };
    }
    const optional = kinds.optional.get(name);
    if (optional !== undefined && rest !== "") {
      return { options: [...options, { name, kind: optional, value: rest }], tookNext: false };
    }
    if (optional === undefined && !kinds.flags.has(name)) return undefined;
    options.push({ name, kind: optional ?? "text" });
  }
  return { options, tookNext: false };
}

function readExpression(rule: ReadOnlyRule, given: readonly string[]): MatchedArguments | Unproven {
  const kinds = optionKinds(rule);
  const options: FoundOption[] = [];
  const operands: string[] = [];
  for (let at = 0; at < given.length; at += 1) {
    const argument = given[at] ?? "";
    const kind = kinds.values.get(argument);
    if (kinds.flags.has(argument)) {
      options.push({ name: argument, kind: "text" });
    } else if (kind !== undefined) {
      at += 1;
      const value = given[at];
      if (value === undefined) return `${argument} has no value`;
      options.push({ name: argument, kind, value });
    } else if (options.length === 0 && !argument.startsWith("-")) {
      operands.push(argument);
    } else {
      return unknownOption(argument);
    }
  }
  return { options, operands };
}

/** The operands behind a first one that is unlike them. */
export function likeOperands(rule: ReadOnlyRule, { options, operands }: MatchedArguments) {
  const { first, rest } = operandKinds(rule, options);
  return first === rest ? operands : operands.slice(1);
}

function operandKinds(
  { operands, noFirstWith, treesWith }: ReadOnlyRule,
  options: readonly FoundOption[],
): { first: ArgumentKind | undefined; rest: ArgumentKind | undefined } {
  if (operands === undefined || typeof operands === "string") {
    return { first: operands, rest: operands };
  }
  const [first, file] = operands;
  const rest = treesWith !== undefined && hasOneOf(options, treesWith) ? "tree" : file;
  const hasNoFirst = noFirstWith !== undefined && hasOneOf(options, noFirstWith);
  return { first: hasNoFirst ? rest : first, rest };
}

const known = new WeakMap<ReadOnlyRule, OptionKinds>();

function optionKinds(rule: ReadOnlyRule): OptionKinds {
  const found = known.get(rule);
  if (found !== undefined) return found;
  const kinds = {
    flags: wordsOf(rule.flags ?? ""),
    values: byName(rule.values ?? {}),
    optional: byName(rule.optional ?? {}),
  };
  known.set(rule, kinds);
  return kinds;
}

function byName(given: Readonly<Record<string, ArgumentKind>>): Map<string, ArgumentKind> {
  return new Map(
    Object.entries(given).flatMap(([names, kind]) =>
      [...wordsOf(names)].map((name): [string, ArgumentKind] => [name, kind]),
    ),
  );
}

function wordsOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/).filter((word) => word !== ""));
}
