// Whether every single argument of a command is among those that its row allows (CMD-4), or why not. Pure: what a path or a
// revision may be, `fits` decides.

import {
  optionTable,
  readArguments,
  type FoundOption,
  type OptionTable,
  type ReadArguments,
} from "@soong/core/internal";

/** What an argument has to be, and how that is said of one that is not. */
const KINDS = {
  /** Anything: the program only prints it, compares with it or counts by it. */
  text: "text",
  /** Digits, perhaps with a sign and a unit. */
  number: "a number",
  /** A keyword such as `time` or `iso-8601`. */
  word: "a plain word",
  /** Contents are read: a regular file (or nothing) inside the roots that is not sensitive. */
  file: "an ordinary file inside the project",
  /** A file, or a directory all files of which may be read: those that are sensitive are looked for (walked-trees.ts). */
  tree: "an ordinary file or directory inside the project",
  /** Looked at from outside: anything inside the roots that is not sensitive. */
  path: "an ordinary path inside the project",
  /** What `date` prints; without the plus sign it would set the clock. */
  date_format: "a format that begins with +",
  /** A revision or a path of this repository, which git itself may not tell apart. */
  revision: "a plain revision or path of this repository",
  /** Nothing else is sure to be a commit. */
  head_revision: "a commit reached from HEAD",
  /** Fields of a commit or a ref, none of which starts another program. */
  git_format: "a format of plain fields",
  /** No commands, pipes, other files or variables. */
  awk_program: "an awk program that plainly reads its files and nothing else",
  jq_filter: "a jq filter that plainly reads its files and nothing else",
  sed_script: "a sed script of one plain command that prints or replaces",
  plain_variable: "a variable that is known to hold no secret",
  /** Not a command to the pager, which begins with a plus sign. */
  pager_file: "an ordinary file inside the project",
} as const;

export type ArgumentKind = keyof typeof KINDS;
export type ArgumentCheck = (kind: ArgumentKind, value: string) => boolean;

/** A clause that says why the arguments are not known to be harmless. */
export type Unproven = string;

/** The options and operands that were found, or why one of them is not allowed. */
export function matchArguments(
  table: OptionTable,
  given: readonly string[],
  fits: ArgumentCheck,
): ReadArguments | Unproven {
  const { marks } = table;
  const read = marks.has("expression")
    ? readExpression(table, given)
    : readArguments(table, given, { names: "exact" });
  if (typeof read === "string") {
    return `the option ${JSON.stringify(read)} is not known to be harmless`;
  }
  const { options, operands } = read;
  const isMixed = marks.has("mixed") || marks.has("expression");
  const behind = isMixed ? undefined : optionBehindOperand(read, given);
  if (behind !== undefined) return `the option ${JSON.stringify(behind)} comes after an argument`;
  const needs = marks.get("needs");
  if (needs !== undefined && !hasFound(options, needs)) {
    return `it is proven only with ${listAlternatives(needs)}`;
  }
  const needed = operands.length > 0 ? marks.get("operandsNeed") : undefined;
  if (needed !== undefined && !hasFound(options, needed)) {
    return `${JSON.stringify(operands[0])} is only harmless with ${listAlternatives(needed)}`;
  }
  if (marks.has("needsOperand") && operands.length === 0) return "it would show everything";
  const excess = operands[Number(marks.get("most") ?? operands.length)];
  if (excess !== undefined) return `${JSON.stringify(excess)} may be written to`;
  for (const { name, kind, value } of options) {
    if (value !== undefined && !fits(kind as ArgumentKind, value)) {
      return `the value ${JSON.stringify(value)} of ${name} is not ${KINDS[kind as ArgumentKind]}`;
    }
  }
  const [first, rest] = operandKinds(table, options);
  for (const [index, operand] of operands.entries()) {
    const kind = index === 0 ? first : rest;
    if (kind === undefined) return `it takes no argument ${JSON.stringify(operand)}`;
    if (!fits(kind, operand)) return `${JSON.stringify(operand)} is not ${KINDS[kind]}`;
  }
  return read;
}

function listAlternatives(list: string): string {
  const options = list.split("|");
  return options.length === 1 ? list : `one of ${options.join(" ")}`;
}

/** Whether one of these options was read, by its whole name: `--type` is not `--type-list`. None listed: always. */
export function hasFound(options: readonly FoundOption[], list: string): boolean {
  const listed = [...optionTable(list).options.keys()];
  const isListed = (name: string): boolean =>
    listed.some((one) => one === name || (one.endsWith("*") && name.startsWith(one.slice(0, -1))));
  return list === "" || options.some(({ name }) => isListed(name));
}

/** A program in strict mode takes all that follows its first operand for operands, too; of these options that would do no harm. */
function optionBehindOperand(
  { options }: ReadArguments,
  given: readonly string[],
): string | undefined {
  const first = given.findIndex((_, at) => !options.some((one) => one.at <= at && at <= one.end));
  const harmful = options.find(
    ({ at, end, kind, value }) =>
      first !== -1 &&
      at > first &&
      value !== undefined &&
      kind !== "number" &&
      !(kind === "word" && at === end),
  );
  return harmful && given[harmful.at];
}

/** Paths first, then words with one dash and a value of their own. */
function readExpression(table: OptionTable, given: readonly string[]): ReadArguments | string {
  const options: FoundOption[] = [];
  const operands: string[] = [];
  for (let at = 0; at < given.length; at += 1) {
    const word = given[at] ?? "";
    const option = table.options.get(word);
    if (option?.value === "next") {
      if (at + 1 === given.length) return word;
      options.push({ ...option, value: given[at + 1], at, end: at + 1 });
      at += 1;
    } else if (option !== undefined) options.push({ ...option, value: undefined, at, end: at });
    else if (options.length === 0 && !word.startsWith("-")) operands.push(word);
    else return word;
  }
  return { options, operands, at: given.length };
}

/** The operands behind a first one that is unlike them. */
export function likeOperands(table: OptionTable, { options, operands }: ReadArguments) {
  const [first, rest] = operandKinds(table, options);
  return first === rest ? operands : operands.slice(1);
}

function operandKinds(
  { operands, marks }: OptionTable,
  options: readonly FoundOption[],
): readonly (ArgumentKind | undefined)[] {
  const [first, file = first] = operands as readonly ArgumentKind[];
  const [noFirst, trees] = [marks.get("noFirst"), marks.get("trees")];
  const rest = trees !== undefined && hasFound(options, trees) ? "tree" : file;
  return [noFirst !== undefined && hasFound(options, noFirst) ? rest : first, rest];
}

/** Which operands a search opens: the first one is the pattern, unless an option gives that. Undefined where an option is not known. */
export function searchedOperands(
  table: OptionTable,
  args: readonly string[],
): readonly string[] | undefined {
  const read = readArguments(table, args, { names: "exact" });
  return typeof read === "string" ? undefined : likeOperands(table, read);
}
