// The commands inside a command with the words that the shell makes of a pattern or of braces: `cp -r src/* ..` names every entry that
// is there now. What a variable holds is not known, so such a word is omitted.

import { readdirSync, type Dirent } from "node:fs";
import { join, resolve } from "node:path";
import { innerCommands, type KnownCommand } from "@soong/core/internal";
import { nameMatcher } from "./paths-below.ts";

export interface Command {
  readonly argv: readonly string[];
  /** Canonical. */
  readonly cwd: string;
  readonly executable: string;
  /** Where a plain `cd` leads, and what `~` and `$HOME` mean to a shell. */
  readonly home?: string;
}

type Program = Pick<Command, "argv" | "executable">;

/** Its own words and those of the commands inside it, as far as they are known from the front. */
export function allCommands({ argv, executable }: Program): (readonly string[])[] {
  return [argv, ...innerCommands(argv, executable).commands.map(({ words }) => words)];
}

/** As they are written: patterns stay. */
export function writtenCommands({ argv, executable }: Program): string[][] {
  return spellCommand({ argv, executable }, (text) => [text]);
}

/** As they run in this directory. */
export function spelledCommands({ argv, executable }: Program, cwd: string): string[][] {
  return spellCommand({ argv, executable }, (text) => shellNames(cwd, text, showsHidden(argv)));
}

function spellCommand(
  { argv, executable }: Program,
  namesOf: (text: string) => string[],
): string[][] {
  return innerCommands(argv, executable).commands.flatMap((command) => {
    if (command.every === undefined) return [[...command.words]];
    const words = spellWords(command.every, namesOf);
    // A wrapper hands on what the shell made of its words.
    return [words, ...spellCommand({ argv: words, executable: words[0] ?? "" }, namesOf)];
  });
}

/** Words of which not even a pattern is known. */
export function hasUnknownWords({ open, every }: KnownCommand): boolean {
  return (
    open && every?.every((word) => typeof word === "string" || word.text !== undefined) !== true
  );
}

function spellWords(
  every: NonNullable<KnownCommand["every"]>,
  namesOf: (text: string) => string[],
): string[] {
  return every.flatMap((word) => {
    if (typeof word === "string") return [word];
    return word.text === undefined ? [] : namesOf(word.text);
  });
}

/** With an option of a shell a pattern matches hidden names, too. */
function showsHidden(argv: readonly string[]): boolean {
  return argv.some((word) => /dotglob|glob_?dots/i.test(word));
}

/** Every name that a word of a script may stand for, itself where nothing fits. */
export function shellNames(cwd: string, text: string, hidden = false): string[] {
  return alternatives(text).flatMap((one) => {
    const found = PATTERN.test(one) ? namesFitting(cwd, one, hidden) : [];
    return found.length === 0 ? [one] : found;
  });
}

const PATTERN = /[*?[]/;
const MOST_NAMES = 20_000;
const MOST_ALTERNATIVES = 256;

/** `{a,b}` is either; a range is taken for any name. */
function alternatives(text: string): string[] {
  const done: string[] = [];
  const ahead = [text];
  for (let one = ahead.pop(); one !== undefined; one = ahead.pop()) {
    const [braces, inner = ""] = /\{([^{}]*(?:,|\.\.)[^{}]*)\}/.exec(one) ?? [];
    if (braces === undefined || done.length + ahead.length > MOST_ALTERNATIVES) {
      done.push(one);
      continue;
    }
    const given = one;
    const choices = inner.includes(",") ? inner.split(",") : ["*"];
    ahead.push(...choices.toReversed().map((choice) => given.replace(braces, () => choice)));
  }
  return done;
}

function namesFitting(cwd: string, pattern: string, hidden: boolean): string[] {
  let found = [""];
  let left = MOST_NAMES;
  const list = (prefix: string): Dirent[] => {
    const entries = left < 0 ? [] : listDirectory(resolve(cwd, prefix === "" ? "." : prefix));
    left -= entries.length + 1;
    return entries;
  };
  const parts = pattern.split("/");
  for (const [index, part] of parts.entries()) {
    const end = index === parts.length - 1 ? "" : "/";
    if (!PATTERN.test(part)) {
      found = found.map((prefix) => `${prefix}${part}${end}`);
      continue;
    }
    const matches = nameMatcher(part);
    const isShown = (name: string): boolean =>
      hidden || part.startsWith(".") || !name.startsWith(".");
    // Some shells go through all directories for this one.
    const from = part === "**" ? found.flatMap((prefix) => below(prefix, list)) : found;
    found = from.flatMap((prefix) =>
      list(prefix)
        .map(({ name }) => name)
        .filter((name) => isShown(name) && matches(name))
        .toSorted()
        .map((name) => `${prefix}${name}${end}`),
    );
    if (part === "**" && end !== "") found = [...from, ...found];
  }
  return found;
}

function below(prefix: string, list: (prefix: string) => Dirent[]): string[] {
  const all = [prefix];
  for (const at of all) {
    const inner = list(at).filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
    for (const { name } of inner) all.push(`${join(at, name)}/`);
  }
  return all;
}

export function listDirectory(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}
