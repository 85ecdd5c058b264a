// The trees whose files a command opens one after the other without naming them: `grep -r`, `cp -r`, `tar c`, `find -exec`.
// Programs that only show names are here where they follow links (`ls -LR`); those that remove (`rm -r`) are not: nothing leaves through them.

import { baseName, innerCommands } from "@soong/core/internal";
import { baseDirectories, innerDirectories } from "./base-directories.ts";
import { calledBack } from "./ignore-exceptions.ts";
import { nameMatcher } from "./name-matcher.ts";
import { canonicalPath } from "./places-of-command.ts";
import {
  GREP_OPTIONS,
  RIPGREP_OPTIONS,
  searchedOperands,
  type SearchOptions,
} from "./searched-operands.ts";
import { exists, isDirectory } from "../path/index.ts";

export { nameMatcher };

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

export interface WalkingCommand {
  readonly argv: readonly string[];
  /** Canonical. */
  readonly cwd: string;
  readonly executable: string;
}

/** Of the command and of those inside it, as far as its arguments say. */
export function walkedTrees({ argv, cwd, executable }: WalkingCommand): WalkedTree[] {
  const inner = innerCommands(argv, executable).commands.map(({ words }) => words);
  const commands = [argv, ...inner];
  // What is found may be handed to another program.
  const handsOver = inner.some(([program]) => HANDS_OVER.has(baseName(program)));
  const bases = innerDirectories({ argv, cwd, executable }) ?? [cwd];
  return commands.flatMap((words) => bases.flatMap((base) => treesOf(words, base, handsOver)));
}

const HANDS_OVER: ReadonlySet<string> = new Set(["xargs", "parallel", "cpio"]);

/** How a program walks. */
interface Walker {
  /** Only with one of these arguments. */
  readonly when?: RegExp;
  /** With one of these, links are followed. */
  readonly follows?: RegExp;
  /** The first operand may be a pattern. */
  readonly search?: SearchOptions;
  /** The last operand is written to, not walked. */
  readonly notWalked?: "last";
  /** With one of these, all operands are walked. */
  readonly unless?: RegExp;
  /** Begins where it runs if no operand is there. */
  readonly alone?: boolean;
  /** Unless one of these is among its arguments, it shows names, and no contents. */
  readonly opensWith?: RegExp;
  readonly filter?: (args: readonly string[], roots: readonly string[]) => TreeFilter;
}

type TreeFilter = Pick<WalkedTree, "enters" | "opens">;

const EVERYTHING: TreeFilter = { enters: () => true, opens: () => true };

const GREP: Walker = {
  when: /^-[A-Za-z0-9]*[rRd]|^--(?:rec|der|dir)/,
  follows: /^-[A-Za-z0-9]*R|^--der/,
  search: GREP_OPTIONS,
  alone: true,
  filter(args) {
    const [include, exclude] = [/^--include$/, /^--exclude$/].map((name) => valuesOf(args, name));
    const filesBy = include?.length === 0 ? unlessNamed(exclude) : onlyNamed(include);
    return {
      enters: unlessNamed(valuesOf(args, /^--exclude-dir$/)),
      // Of both, the order decides.
      opens: include?.length !== 0 && exclude?.length !== 0 ? () => true : filesBy,
    };
  },
};
const RIPGREP: Walker = {
  search: RIPGREP_OPTIONS,
  alone: true,
  follows: /^-[A-Za-z]*L|^--follow/,
  filter(args, roots) {
    if (hasOne(args, /^--(?:iglob|pre|ignore-file|glob-case|type-add)|^-[A-Za-z]*g./))
      return EVERYTHING;
    const globs = valuesOf(args, /^(?:-g|--glob)$/);
    const only = globs.filter((glob) => !glob.startsWith("!"));
    if (only.length > 0) return { ...EVERYTHING, opens: onlyNamed(only) };
    const skipsHidden = !hasOne(args, /^-[A-Za-z]*[.u]|^--(?:hid|unr)/);
    const isKept = unlessNamed(globs.map((glob) => glob.slice(1)));
    if (!skipsHidden) return { enters: isKept, opens: isKept };
    // What an ignore file calls back, or a type names, is opened although it is hidden.
    const isCalled = calledBack(roots);
    const isHidden = hiddenBeside(args);
    const isWalked = (name: string): boolean => isKept(name) && (!isHidden(name) || isCalled(name));
    return { enters: isWalked, opens: isWalked };
  },
};

/** Types of which every pattern is an ending, and those endings. */
const BY_ENDING =
  /^(?:js|ts|typescript|py|python|rust|go|java|c|cpp|css|html|json|md|markdown|toml|yaml|xml|sql|php|swift|kotlin)$/;

const ENDING =
  /\.(?:[cm]?[jt]sx?|vue|svelte|pyi?|rs|go|javap?|jspx?|properties|cats|in|[chH]|C|[ch](?:pp|xx|\+\+|c|h)|hh|inl|s?css|sass|x?html?|ejs|json[5lc]?|sarif|md[xw]?n?|mdown|mkdn?|markdown|toml|lock|ya?ml|xml|dtd|rng|sch|xjb|dist|xsd|xslt?|p?sql|php\d?|phtml|swift|kts?)$/;

function hiddenBeside(args: readonly string[]): (name: string) => boolean {
  const types = [
    ...valuesOf(args, /^(?:-[A-Za-z]*t|--type)$/),
    ...args.flatMap((arg) => /^-[A-Za-z]*?t(.+)$/.exec(arg)?.[1] ?? []),
  ];
  if (types.length === 0) return (name) => name.startsWith(".");
  return types.every((type) => BY_ENDING.test(type))
    ? (name) => name.startsWith(".") && !ENDING.test(name)
    : () => false;
}

const COPY: Walker = {
  when: /^-[A-Za-z]*[rRa]|^--(?:rec|ar)/,
  follows: /^-[A-Za-z]*[LkH]|^--(?:deref|copy-)/,
  notWalked: "last",
};
const TO_DIRECTORY = /^-[A-Za-z]*t|^--target/;
const NEVER = /(?!)/;
const LIST: Walker = {
  when: /^-[A-Za-z0-9]*R|^--rec/,
  follows: /^-[A-Za-z0-9]*L|^--dereference$/,
  alone: true,
  opensWith: NEVER,
};
const RECURSIVE: Walker = { when: /^-[A-Za-z0-9]*[rR]|^--rec/, follows: /^/ };
const TAR: Walker = { follows: /^-?[A-Za-z]*h|^--deref/, filter: withoutExcluded };

const WALKERS: Readonly<Record<string, Walker>> = {
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  zgrep: GREP,
  rgrep: { ...GREP, when: /^/ },
  rg: RIPGREP,
  ag: { alone: true, follows: /^/ },
  ack: { alone: true, follows: /^/ },
  cp: { ...COPY, unless: TO_DIRECTORY },
  mv: { notWalked: "last", unless: TO_DIRECTORY },
  rsync: {
    ...COPY,
    // What is included before counts more.
    filter: (args) =>
      hasOne(args, /^--(?:inc|fil)|^-[A-Za-z]*f/) ? EVERYTHING : withoutExcluded(args),
  },
  scp: COPY,
  // Of two directories it compares the files, with or without an option.
  diff: { follows: /^/ },
  git: { when: /^--(?:no-index|untracked)/, alone: true },
  ...Object.fromEntries(
    ["ug", "ugrep", "pax", "ditto", "7zz"].map((name) => [name, { follows: /^/ }]),
  ),
  gzip: RECURSIVE,
  zip: RECURSIVE,
  tar: TAR,
  gtar: TAR,
  bsdtar: TAR,
  "7z": { when: /^a$/, follows: /^/ },
  "7za": { when: /^a$/, follows: /^/ },
  ls: LIST,
  dir: LIST,
  vdir: LIST,
  tree: { follows: /^-[A-Za-z]*l/, alone: true, opensWith: NEVER },
  du: { follows: /^-[A-Za-z]*L|^--deref/, alone: true, opensWith: NEVER },
  find: {
    opensWith: /^-(?:exec|ok)/,
    follows: /^-[LH]$|^-follow$/,
    alone: true,
    filter: namedByFind,
  },
  fd: { when: /^-[A-Za-z]*[xX]|^--exec/, alone: true, follows: /^/ },
};

/** `tar c`, `tar -czf`, `tar --append`: what extracts or lists walks through no tree. */
export function isArchiving(args: readonly string[]): boolean {
  return (
    /^[A-Za-z]*[cruA]/.test(args[0] ?? "") || hasOne(args, /^-[A-Za-z]*[cruA]|^--(?:cr|app|upd)/)
  );
}

function treesOf(words: readonly string[], cwd: string, handsOver: boolean): WalkedTree[] {
  const [program, ...args] = words;
  const name = baseName(program);
  const walker = Object.hasOwn(WALKERS, name) ? WALKERS[name] : undefined;
  if (walker === undefined) return [];
  const { when, follows, alone, filter, opensWith } = walker;
  const isHanded = handsOver && (name === "find" || name === "fd");
  if (when !== undefined && !isHanded && !hasOne(args, when)) return [];
  if (name.endsWith("tar") && !isArchiving(args)) return [];
  const bases = baseDirectories({ argv: words, cwd, executable: name }) ?? [cwd];
  const searched = walker.search && searchedOperands(args, walker.search);
  const operands = name === "find" ? startsOfFind(args) : (searched ?? operandsOf(walker, args));
  const named = bases.flatMap((base) => operands.flatMap((one) => canonicalPath(base, one) ?? []));
  const isUnsure = walker.search !== undefined && searched === undefined;
  const starts =
    isUnsure || (alone === true && !named.some(exists)) ? [...new Set([cwd, ...named])] : named;
  const showsNamesOnly = !isHanded && opensWith !== undefined && !hasOne(args, opensWith);
  const followsAll = follows !== undefined && hasOne(args, follows);
  if (showsNamesOnly && !followsAll) return [];
  // What find hands to a program may be a link, which that program follows.
  const followsLinks = followsAll || (name === "find" ? "files" : false);
  const roots = [...new Set(starts.filter(isDirectory))];
  const filtered = filter?.(args, roots) ?? EVERYTHING;
  return roots.map((root) => ({ root, cwd, followsLinks, showsNamesOnly, ...filtered }));
}

/** Too many rather than too few: the value of an option is mostly no directory. */
function operandsOf({ notWalked, unless }: Walker, args: readonly string[]): string[] {
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const isLast = notWalked === "last" && !(unless !== undefined && hasOne(args, unless));
  return isLast ? operands.slice(0, -1) : operands;
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
  const matchers = valuesOf(tests, /^-name$/).map(nameMatcher);
  return { ...EVERYTHING, opens: (name) => matchers.every((matches) => matches(name)) };
}

function withoutExcluded(args: readonly string[]): TreeFilter {
  const isKept = unlessNamed(valuesOf(args, /^--exclude$/));
  return { enters: isKept, opens: isKept };
}

/** A glob that is about more than one name leaves nothing out. */
function unlessNamed(globs: readonly string[] = []): (name: string) => boolean {
  const matchers = globs.filter((glob) => !/[[\]/{}\\!]/.test(glob)).map(nameMatcher);
  return (name) => !matchers.some((matches) => matches(name));
}

function onlyNamed(globs: readonly string[] = []): (name: string) => boolean {
  if (globs.some((glob) => /[/{}\\!]/.test(glob))) return () => true;
  const matchers = globs.map(nameMatcher);
  return (name) => matchers.some((matches) => matches(name));
}

/** Attached behind `=`, or the next argument. */
function valuesOf(args: readonly string[], option: RegExp | undefined): string[] {
  if (option === undefined) return [];
  return args.flatMap((arg, index) => {
    const [, long = arg, value] = /^(--[^=]+)=(.*)$/s.exec(arg) ?? [];
    return option.test(long) ? [value ?? args[index + 1] ?? ""] : [];
  });
}

function hasOne(args: readonly string[], pattern: RegExp): boolean {
  return args.length === 0 ? pattern.test("") : args.some((arg) => pattern.test(arg));
}
