// The scripts a command would run, as they are now: part of what is approved, so that one that is edited before it
// starts is another command (PERM-8).

import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Plan } from "@soong/core";
import { lookAt, readWholeFile, readStamp } from "../path/index.ts";
import { baseDirectories } from "./base-directories.ts";
import { listsGiven } from "./file-lists.ts";
import { gitArguments } from "./git-arguments.ts";
import { canonicalPath } from "./places-of-command.ts";
import { allCommands, type Command } from "./spelled-commands.ts";

type PreImages = NonNullable<Plan["pre_images"]>;

/** Of the command and of those inside it: what an interpreter is given to run or looks up itself, and all that is executable. */
export async function scriptsOfCommand(command: Command): Promise<PreImages> {
  const { argv, cwd } = command;
  const commands = allCommands(command);
  // What is handed on inside a script may be anything that the script names.
  const piped = commands.slice(1).some(readsItsInput)
    ? argv.flatMap((word) => word.split(BORDERS))
    : [];
  const paths = new Set<string>();
  for (const base of baseDirectories(command) ?? [cwd]) {
    for (const words of commands) {
      // The program of the command itself has a stamp of its own.
      const own = words === argv ? [] : words.slice(0, 1).filter((word) => word.includes("/"));
      const named = [...own, ...filesThatTell(words), ...piped];
      const found = [
        ...named.flatMap((word) => canonicalPath(base, word) ?? []),
        ...scriptsGiven(words, base),
        ...scriptsLookedUp(words, base),
      ];
      for (const path of found) if (modeOfFile(path) !== undefined) paths.add(path);
    }
  }
  const images: PreImages = [];
  for (const path of [...paths].slice(0, MOST_SCRIPTS)) {
    images.push({ path, sha256: await readImage(path) });
  }
  return images;
}

function scriptsGiven(words: readonly string[], base: string): string[] {
  const paths: string[] = [];
  let isWaited = INTERPRETER.test(basename(words[0] ?? ""));
  for (const argument of words.slice(1)) {
    const isOption = argument.startsWith("-");
    const path = canonicalPath(base, isOption ? argument.replace(/^[^=]*=/, "") : argument);
    const mode = path === undefined ? undefined : modeOfFile(path);
    if (path !== undefined && mode !== undefined && (isWaited || (mode & 0o111) !== 0)) {
      paths.push(path);
      // What follows its script is data. What is in an option is loaded before it.
      if (!isOption) isWaited = false;
    }
    if (INTERPRETER.test(basename(argument))) isWaited = true;
  }
  return paths;
}

const BORDERS = /[\s"'`;|&<>()]+/;

/** An interpreter or `patch` without a file: `cat x.sh | sh`, `patch -p1 < x.diff`. */
function readsItsInput([program = "", ...args]: readonly string[]): boolean {
  const name = basename(program);
  const isAlone = args.every((arg) => arg.startsWith("-") && !/^-[A-Za-z]*c$/.test(arg));
  return isAlone && (SHELL_OR_LANGUAGE.test(name) || TELLING.some(([one]) => one.test(name)));
}

/** Files that say what is done, beside those that are run: variables, options and operands that name one. */
function filesThatTell(words: readonly string[]): string[] {
  const variables = words
    .flatMap((word) => word.split(BORDERS))
    .flatMap((word) => /^[A-Za-z_]\w*=(.+)$/s.exec(word)?.[1] ?? []);
  const [program = "", ...args] = words;
  const name = basename(program);
  if (name === "git") {
    const { subcommand, rest } = gitArguments(args);
    return [...variables, ...(/^(?:apply|am)$/.test(subcommand) ? rest : [])];
  }
  const [, option] = TELLING.find(([one]) => one.test(name)) ?? [];
  const values = args.flatMap((arg, index) => {
    const [isGiven, attached] = option?.exec(arg) ?? [];
    return isGiven === undefined ? [] : [attached || (args[index + 1] ?? "")];
  });
  return [...variables, ...values, ...listsGiven(words)].filter((given) => given !== "");
}

const TELLING: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/^(?:g?vim?|nvim|ex|view|vimdiff)$/, /^-[Ssu](.*)$/s],
  [/^(?:emacs|emacsclient)$/, /^(?:-l|-script|--(?:load|script)=?)(.*)$/s],
  [/^jq$/, /^(?:-[A-Za-z]*f|--from-file)()$/],
  [/^(?:psql|cqlsh|mongosh?|isql)$/, /^(?:-f|--file=?)(.*)$/s],
  [/^sqlite3$/, /^--?init()$/],
  [/^(?:gdb|lldb)$/, /^(?:-x|-s|--(?:command|source)=?)(.*)$/s],
  [/^patch$/, /^(?:-[A-Za-z]*i|--input=?)(.*)$/s],
];

/** Files that no argument names as they are called: those of build tools and package managers, and modules. */
function scriptsLookedUp(words: readonly string[], base: string): string[] {
  for (const [at, word] of words.entries()) {
    const [, look] = LOOKS_UP.find(([program]) => program.test(basename(word))) ?? [];
    if (look !== undefined) return look(words.slice(at + 1), base);
  }
  return [];
}

type Look = (args: readonly string[], base: string) => string[];

/** In the directory and in those above it. */
const inOrAbove =
  (...names: string[]): Look =>
  (args, base) => [
    ...names.map((name) => join(base, name)),
    ...(base === dirname(base) ? [] : inOrAbove(...names)(args, dirname(base))),
  ];

const LOOKS_UP: readonly (readonly [RegExp, Look])[] = [
  [/^g?make$/, makefiles],
  [/^(?:npm|npx|pnpm|pnpx|yarn|bun)$/, inOrAbove("package.json", ".npmrc")],
  [
    /^node(?:js)?$/,
    (args, base) => (args.includes("--run") ? inOrAbove("package.json")(args, base) : []),
  ],
  [/^just$/, inOrAbove("justfile", "Justfile", ".justfile")],
  [/^rake$/, inOrAbove("Rakefile", "rakefile")],
  [/^(?:python|pypy)[\d.]*$/, pythonModule],
];

function makefiles(args: readonly string[], base: string): string[] {
  const given = args.flatMap((arg) => /^(?:-f|--(?:make)?file=)(.+)$/s.exec(arg)?.[1] ?? []);
  return [...given, "GNUmakefile", "makefile", "Makefile"].flatMap(
    (name) => canonicalPath(base, name) ?? [],
  );
}

function pythonModule(args: readonly string[], base: string): string[] {
  const [first] = args.filter((arg) => !arg.startsWith("-"));
  const directory = first === undefined ? [] : [join(base, first, "__main__.py")];
  const at = args.findIndex((arg) => /^-[A-Za-z]*m/.test(arg));
  const [, attached] = /^-[A-Za-z]*?m(.*)$/s.exec(args[at] ?? "") ?? [];
  const module = attached || (args[at + 1] ?? "");
  if (at === -1 || !/^[\w.]+$/.test(module)) return directory;
  const names = module.split(".");
  const packages = names.map((_, index) => join(base, ...names.slice(0, index + 1)));
  return [
    `${join(base, ...names)}.py`,
    ...packages.map((path) => join(path, "__init__.py")),
    join(base, ...names, "__main__.py"),
  ];
}

const SHELL_OR_LANGUAGE =
  /^(?:(?:ba|da|z|k|mk|a|c|tc|fi)?sh|python[\d.]*|pypy\d*|node|nodejs|deno|bun|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|psql|sqlite3|mysql)$/;
const INTERPRETER =
  /^(?:(?:ba|da|z|k|mk|a|c|tc|fi)?sh|python[\d.]*|pypy\d*|node|nodejs|deno|bun|tsx|ts-node|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|luajit|Rscript|tclsh|wish|expect|osascript|groovy|julia|guile|racket|elixir|escript|awk|gawk|mawk|sed|make|gmake|just|source|\.)$/;
const MOST_SCRIPTS = 64;
/** A larger one is distinguished by its stamp. */
const MAX_HASHED_BYTES = 16 * 1024 * 1024;

async function readImage(path: string): Promise<string | null> {
  try {
    return (await readWholeFile(path, { maxBytes: MAX_HASHED_BYTES }))?.sha256 ?? null;
  } catch {
    const stamp = await readStamp(path).catch(() => undefined);
    return createHash("sha256")
      .update(JSON.stringify(stamp ?? null))
      .digest("hex");
  }
}

function modeOfFile(path: string): number | undefined {
  const stats = lookAt(path, statSync);
  return stats?.isFile() === true ? stats.mode : undefined;
}
