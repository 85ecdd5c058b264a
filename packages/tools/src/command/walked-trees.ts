// The trees whose files a command opens one after the other without naming them: `grep -r`, `cp -r`, `tar c`, `find -exec`.
// Programs that only show names are here where they follow links (`ls -LR`); those that remove (`rm -r`) are not: nothing leaves through them.

import { baseName, hasOption, optionValues, type OptionTable } from "@soong/core/internal";
import { baseDirectories, innerDirectories } from "./base-directories.ts";
import { calledBack } from "./ignore-exceptions.ts";
import { canonicalPath } from "./places-of-command.ts";
import { allCommands, type Command } from "./spelled-commands.ts";
import { searchedOperands } from "./match-arguments.ts";
import { isMarked, programTable } from "./programs.ts";
import { exists, isDirectory } from "../path/index.ts";
import { nameMatcher } from "./paths-below.ts";

export interface WalkedTree {
  /** Canonical. */
  readonly root: string;
  /** Where the command runs: a link may lead through its own process. */
  readonly cwd: string;
  /** `files`: it enters no directory through one. */
  readonly followsLinks: boolean | "files";
  readonly showsNamesOnly: boolean;
  /** Whether a directory of this name is entered, a file of this name opened: the command may say which. */
  enters(name: string): boolean;
  opens(name: string): boolean;
}

/** Of the command and of those inside it, as far as its arguments say. */
export function walkedTrees({ argv, cwd, executable }: Command): WalkedTree[] {
  const commands = allCommands({ argv, executable });
  // What is found may be handed to another program.
  const handsOver = commands.slice(1).some(([program]) => HANDS_OVER.has(baseName(program)));
  const bases = innerDirectories({ argv, cwd, executable }) ?? [cwd];
  return commands.flatMap((words) =>
    bases.flatMap((base) => listWalkedTrees(words, base, handsOver)),
  );
}

const HANDS_OVER: ReadonlySet<string> = new Set(["xargs", "parallel", "cpio"]);

type TreeFilter = Pick<WalkedTree, "enters" | "opens">;

const EVERYTHING: TreeFilter = { enters: () => true, opens: () => true };

type ReadFilter = (args: readonly string[], roots: readonly string[]) => TreeFilter;

const filterOfGrep: ReadFilter = (args) => {
  const [include, exclude] = [listValues(args, "--include"), listValues(args, "--exclude")];
  const filesBy = include.length === 0 ? unlessNamed(exclude) : onlyNamed(include);
  return {
    enters: unlessNamed(listValues(args, "--exclude-dir")),
    // Of both, the order decides.
    opens: include.length > 0 && exclude.length > 0 ? () => true : filesBy,
  };
};

const filterOfRipgrep: ReadFilter = (args, roots) => {
  if (args.some((arg) => /^--(?:iglob|pre|ignore-file|glob-case|type-add)|^-[A-Za-z]*g./.test(arg)))
    return EVERYTHING;
  const globs = listValues(args, "-g", "--glob");
  const only = globs.filter((glob) => !glob.startsWith("!"));
  if (only.length > 0) return { ...EVERYTHING, opens: onlyNamed(only) };
  const isKept = unlessNamed(globs.map((glob) => glob.slice(1)));
  if (hasOption(args, "-.u|--hid*|--unr*")) return { enters: isKept, opens: isKept };
  // What an ignore file calls back, or a type names, is opened although it is hidden.
  const isCalled = calledBack(roots);
  const isHidden = hiddenBeside(args);
  const isWalked = (name: string): boolean => isKept(name) && (!isHidden(name) || isCalled(name));
  return { enters: isWalked, opens: isWalked };
};

/** Types of which every pattern is an ending, and those endings. */
const BY_ENDING =
  /^(?:js|ts|typescript|py|python|rust|go|java|c|cpp|css|html|json|md|markdown|toml|yaml|xml|sql|php|swift|kotlin)$/;

const ENDING =
  /\.(?:[cm]?[jt]sx?|vue|svelte|pyi?|rs|go|javap?|jspx?|properties|cats|in|[chH]|C|[ch](?:pp|xx|\+\+|c|h)|hh|inl|s?css|sass|x?html?|ejs|json[5lc]?|sarif|md[xw]?n?|mdown|mkdn?|markdown|toml|lock|ya?ml|xml|dtd|rng|sch|xjb|dist|xsd|xslt?|p?sql|php\d?|phtml|swift|kts?)$/;

function hiddenBeside(args: readonly string[]): (name: string) => boolean {
  const types = optionValues(args, "-t|--type");
  if (types.length === 0) return (name) => name.startsWith(".");
  return types.every((type) => BY_ENDING.test(type))
    ? (name) => name.startsWith(".") && !ENDING.test(name)
    : () => false;
}

const FILTERS: Readonly<Record<string, ReadFilter>> = {
  ...Object.fromEntries(
    "grep egrep fgrep zgrep rgrep".split(" ").map((name) => [name, filterOfGrep]),
  ),
  rg: filterOfRipgrep,
  // What is included before counts more.
  rsync: (args) => (hasOption(args, "-f|--inc*|--fil*") ? EVERYTHING : withoutExcluded(args)),
  ...Object.fromEntries("tar gtar bsdtar".split(" ").map((name) => [name, withoutExcluded])),
  find: namedByFind,
};

/** `tar c`, `tar -czf`, `tar --append`: what extracts or lists walks through no tree. */
export function isArchiving(args: readonly string[]): boolean {
  return hasOption(dashedLetters(args), "-cruA|--cr*|--app*|--upd*");
}

/** The letters that tar takes without a dash as its first argument. */
export function dashedLetters([first = "", ...rest]: readonly string[]): string[] {
  return [first.replace(/^([A-Za-z]+).*$/s, "-$1"), ...rest];
}

function listWalkedTrees(words: readonly string[], cwd: string, handsOver: boolean): WalkedTree[] {
  const [program, ...given] = words;
  const name = baseName(program);
  const table = programTable(name);
  const isTar = name.endsWith("tar");
  const args = isTar ? dashedLetters(given) : given;
  const isHanded = handsOver && (name === "find" || name === "fd");
  if (!isMarked(table, "walks", args) && !isHanded) return [];
  if (isTar && !isArchiving(args)) return [];
  const isSearch = table.operands[0] === "text" && table.marks.has("alone");
  const searched = isSearch ? searchedOperands(table, args) : undefined;
  const operands =
    name === "find" ? startsOfFind(args) : (searched ?? walkedOperands(table, given));
  const bases = baseDirectories({ argv: words, cwd, executable: name }) ?? [cwd];
  const named = bases.flatMap((base) => operands.flatMap((one) => canonicalPath(base, one) ?? []));
  const isUnsure = isSearch && searched === undefined;
  const isAlone = table.marks.has("alone") && !named.some(exists);
  const starts = isUnsure || isAlone ? [...new Set([cwd, ...named])] : named;
  const names = table.marks.get("names");
  const opens = names !== undefined && names !== "" && isMarked(table, "names", args);
  const showsNamesOnly = !isHanded && names !== undefined && !opens;
  const followsAll = isMarked(table, "follows", args);
  if (showsNamesOnly && !followsAll) return [];
  // What find hands to a program may be a link, which that program follows.
  const followsLinks = followsAll || (name === "find" ? "files" : false);
  const roots = [...new Set(starts.filter(isDirectory))];
  const filter = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
  const filtered = filter?.(args, roots) ?? EVERYTHING;
  return roots.map((root) => ({ root, cwd, followsLinks, showsNamesOnly, ...filtered }));
}

/** Too many rather than too few: the value of an option is mostly no directory. Where something is put is not read. */
export function walkedOperands(table: OptionTable, args: readonly string[]): string[] {
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const into = table.marks.get("into");
  const isInto = into === "" || (into !== undefined && !hasOption(args, into));
  return isInto ? operands.slice(0, -1) : operands;
}

export function startsOfFind(args: readonly string[]): string[] {
  const end = args.findIndex((arg) => /^(?:-(?![LHPDO])|[(!])/.test(arg));
  return args.slice(0, end === -1 ? args.length : end).filter((arg) => !arg.startsWith("-"));
}

/** By its `-name`, where nothing in the expression is an alternative or turned around. */
export function namedByFind(args: readonly string[]): TreeFilter {
  const action = args.findIndex((arg) => /^-(?:exec|ok|delete)/.test(arg));
  const tests = args.slice(0, action === -1 ? args.length : action);
  if (args.some((arg) => /^(?:-o|-or|,|!|-not)$/.test(arg))) return EVERYTHING;
  const matchers = listValues(tests, "-name").map(nameMatcher);
  return { ...EVERYTHING, opens: (name) => matchers.every((matches) => matches(name)) };
}

function withoutExcluded(args: readonly string[]): TreeFilter {
  const isKept = unlessNamed(listValues(args, "--exclude"));
  return { enters: isKept, opens: isKept };
}

/** A glob that is about more than one name leaves nothing out. */
function unlessNamed(globs: readonly string[]): (name: string) => boolean {
  const matchers = globs.filter((glob) => !/[[\]/{}\\!]/.test(glob)).map(nameMatcher);
  return (name) => !matchers.some((matches) => matches(name));
}

function onlyNamed(globs: readonly string[]): (name: string) => boolean {
  if (globs.some((glob) => /[/{}\\!]/.test(glob))) return () => true;
  const matchers = globs.map(nameMatcher);
  return (name) => matchers.some((matches) => matches(name));
}

/** Attached behind `=`, or the next argument. */
function listValues(args: readonly string[], ...options: string[]): string[] {
  return args.flatMap((arg, index) => {
    const [, name = arg, value] = /^(--[^=]+)=(.*)$/s.exec(arg) ?? [];
    return options.includes(name) ? [value ?? args[index + 1] ?? ""] : [];
  });
}
