// Builtins of shells that evaluate what they are given (PERM-16). In bash, ksh or zsh a number may be an arithmetic expression and
// the name of a variable may have a subscript; both run the commands inside: `test -v 'a[$(rm x)]'`. Which shell it is does
// not matter: what one of them evaluates has to be a literal.

import type { KnownCommand, ShellWord } from "./known-command.ts";

/** Whether `command`, a builtin of that name, might evaluate one of its words. */
export function evaluatesText(name: string, command: KnownCommand): boolean {
  if (!Object.hasOwn(HARMLESS, name)) return false;
  return HARMLESS[name]?.(listWords(command).slice(1)) !== true;
}

function listWords({ words, open, every }: KnownCommand): readonly ShellWord[] {
  return every ?? [...words, ...(open ? [{ unknown: "words" } as const] : [])];
}

const HARMLESS: Readonly<Record<string, (args: readonly ShellWord[]) => boolean>> = {
  test: isHarmlessTest,
  "[": (args) => args.at(-1) === "]" && isHarmlessTest(args.slice(0, -1)),
  // Its words are not split, and its operators are never the value of a variable.
  "[[": (args) => isHarmlessExpression(args.at(-1) === "]]" ? args.slice(0, -1) : args),
  exit: areNumbers,
  return: areNumbers,
  break: areNumbers,
  continue: areNumbers,
  shift: areNumbers,
  wait: (args) => args.every((arg) => isNumber(arg) || isText(arg, /^(?:-[nf]+|%[\d+%-]?\d*)$/)),
  ulimit: (args) =>
    args.every((arg) => isNumber(arg) || isText(arg, /^(?:-[A-Za-z]+|unlimited|hard|soft)$/)),
  set: isHarmlessSet,
  printf: isHarmlessPrintf,
};

function isText(word: ShellWord | undefined, pattern: RegExp): word is string {
  return typeof word === "string" && pattern.test(word);
}

function isNumber(word: ShellWord | undefined): boolean {
  return typeof word === "object" ? word.unknown === "number" : isText(word, /^[-+]?\d+$/);
}

function areNumbers(args: readonly ShellWord[]): boolean {
  return args.every(isNumber);
}

const OF_A_FILE_OR_TEXT = /^-[abcdefghknprsuwxzGLNOS]$/;
const OF_A_NAME = /^-[vR]$/;
const OF_TWO_TEXTS = /^(?:=|==|!=|=~|<|>|-nt|-ot|-ef)$/;
const OF_TWO_NUMBERS = /^-(?:eq|ne|lt|le|gt|ge)$/;

function isHarmlessTest(args: readonly ShellWord[]): boolean {
  if (args.some((arg) => typeof arg === "object" && arg.unknown === "words")) return false;
  return isHarmlessExpression(args) || args.every((arg, at) => isHarmlessWord(args, arg, at));
}

/** Of as many words that it is certain which of them is the operator. */
function isHarmlessExpression(given: readonly ShellWord[]): boolean {
  const args = given[0] === "!" ? given.slice(1) : given;
  const [first, second, third] = args;
  if (args.length < 2) return true;
  if (args.length === 2) {
    return isText(first, OF_A_NAME) ? isName(second) : isText(first, OF_A_FILE_OR_TEXT);
  }
  if (args.length > 3) return false;
  if (isText(second, OF_TWO_NUMBERS)) return isNumber(first) && isNumber(third);
  return isText(second, OF_TWO_TEXTS);
}

/** Where all words are known, any of them that looks like an operator may be one. */
function isHarmlessWord(args: readonly ShellWord[], arg: ShellWord, at: number): boolean {
  if (isText(arg, OF_A_NAME)) return isName(args[at + 1]);
  if (isText(arg, OF_TWO_NUMBERS)) return isNumber(args[at - 1]) && isNumber(args[at + 1]);
  return typeof arg === "string";
}

function isName(word: ShellWord | undefined): boolean {
  return isText(word, /^[A-Za-z_]\w*$/);
}

/** Letters and names of options that change no more than when a script ends and what it prints. */
export const ORDINARY_SHELL_LETTERS = /^[-+][aefhmnpuvxCo]+$/;
export const ORDINARY_SHELL_OPTIONS =
  /^(?:allexport|errexit|noglob|noclobber|nounset|noexec|pipefail|posix|verbose|xtrace)$/;

function isHarmlessSet(args: readonly ShellWord[]): boolean {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at];
    if (arg === "--") return true;
    if (isText(arg, /^[^-+]/)) return true;
    if (!isText(arg, ORDINARY_SHELL_LETTERS)) return false;
    if (!arg.endsWith("o")) continue;
    at += 1;
    if (at < args.length && !isText(args[at], ORDINARY_SHELL_OPTIONS)) return false;
  }
  return true;
}

function isHarmlessPrintf([format, ...args]: readonly ShellWord[]): boolean {
  if (format === "--") return isHarmlessPrintf(args);
  if (!isText(format, /^(?!-)/)) return false;
  const conversions = format.replaceAll("%%", "").match(/%[^A-Za-z(]*[A-Za-z(]?/g) ?? [];
  return conversions.every((one) => /^%[-\d.]*[sbcq]$/.test(one)) || areNumbers(args);
}
