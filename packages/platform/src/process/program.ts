// Which program the runtime itself starts for a declaration, a hook, an MCP server or a search, and the PATH it is
// found on (MCP-11). A program the agent could have written is never one of them: nothing of the project is looked
// at, on no PATH and by no relative name.

import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { ToolFailure, type Roots } from "@soong/core";
import { isWithin } from "@soong/core/internal";

export interface ProgramPlaces {
  /** From where a relative name with a slash is meant. */
  readonly directory: string;
  /** What is in here is as trusted as the declaration beside it, also where it is inside a root. */
  readonly trusted?: string;
  /** Where the agent works; undefined before anyone knows. */
  readonly roots: Roots | undefined;
}

/** Throws a ToolFailure that says why the program cannot be run. */
export function findProgram(
  command: string,
  places: ProgramPlaces,
  env: Readonly<Record<string, string>>,
): FoundExecutable {
  const name = isBesideDeclaration(command) ? join(places.directory, command) : command;
  const path = env["PATH"] ?? SYSTEM_PATH;
  const program = findExecutable(name, { path, cwd: places.directory });
  if (program === undefined) {
    const where = name.includes("/")
      ? `${name} is not there or not executable`
      : `no directory of PATH has an executable "${name}"`;
    throw new ToolFailure({
      code: "executable_not_found",
      error_class: "setup_required",
      message: `The program cannot be run: ${where}.`,
      recovery: "set_up_first",
    });
  }
  const root = rootOfProgram(program, places.roots, places.trusted);
  if (root === undefined) return program;
  throw new ToolFailure({
    code: "executable_in_project",
    error_class: "policy_blocked",
    message: `${program.found} is inside ${root}, where the agent may write; the runtime starts no program from there. Install it elsewhere.`,
    recovery: "ask_the_user",
  });
}

/** The minimal environment (DECL-5): the default names, those listed, and a PATH without the project. */
export function programEnvironment(
  allowlist: readonly string[],
  roots: Roots | undefined,
): Record<string, string> {
  const env = environmentOutside(roots, { allowlist: [...DEFAULT_ENV_ALLOWLIST, ...allowlist] });
  // Node's pipes are sockets, and bash takes a socket on its stdin for a remote login unless it learns that
  // a shell is around it: it would read ~/.bashrc first.
  return { ...env, SHLVL: "1", PATH: env["PATH"] ?? SYSTEM_PATH };
}

/** What the list lets through, with a PATH without the project; a PATH that had nothing else is the system's. */
export function environmentOutside(
  roots: Roots | undefined,
  options: EnvironmentOptions,
): Record<string, string> {
  const env = commandEnvironment(options);
  if (env["PATH"] === undefined) return env;
  const isFixed = (path: string) => SYSTEM_DIRECTORIES.includes(path) && !isWritableHere(path);
  const kept = env["PATH"]
    .split(":")
    .filter((entry) => rootAround(entry, roots) === undefined || isFixed(entry));
  return { ...env, PATH: kept.length === 0 ? SYSTEM_PATH : kept.join(":") };
}

/**
 * The root of the agent's that a program is in, by the name it is found by or by the file behind it: either could
 * be planted. What is in the `trusted` directory is as trusted as that, also where it is inside a root.
 */
export function rootOfProgram(
  program: FoundExecutable,
  roots: Roots | undefined,
  trusted?: string,
): string | undefined {
  const { found, resolved } = program;
  if (isFixedProgram(program)) return undefined;
  for (const path of [found, resolved]) {
    if (trusted !== undefined && isWithin(trusted, path)) continue;
    const root = rootAround(path, roots);
    if (root !== undefined) return root;
  }
  return undefined;
}

/** Where the system has its programs, and where their links may lead. */
export const SYSTEM_DIRECTORIES: readonly string[] = (
  "/bin /sbin /usr/bin /usr/sbin /usr/lib /usr/libexec /usr/local/bin /usr/local/sbin " +
  "/opt/homebrew/bin /opt/homebrew/Cellar"
).split(" ");

/**
 * A program of the system that this user cannot replace: with `/` as the project it is around every program, and none of the
 * system's becomes the agent's by that. A user that may write there (root) has none.
 */
export function isFixedProgram(
  { found, resolved }: FoundExecutable,
  isWritable: (path: string) => boolean = isWritableHere,
): boolean {
  return [found, resolved].every(
    (path) =>
      SYSTEM_DIRECTORIES.some((directory) => isWithin(directory, path)) &&
      !isWritable(path) &&
      !isWritable(dirname(path)),
  );
}

/** Where systems have programs that no user can replace. */
const SYSTEM_PROGRAMS = [
  ...SYSTEM_DIRECTORIES,
  "/run/current-system/sw/bin",
  "/nix/var/nix/profiles/default/bin",
  "/nix/store",
];

/**
 * A program of the system that the runtime relies on for its own safety: in a place of the system, by its name and by the
 * file behind it, and with no one but the system's administrator able to replace it or a directory on the way. `refused` is one
 * that does not meet this.
 */
export function findSystemProgram(
  name: string,
  path: string,
): { readonly program: string } | { readonly refused: string | undefined } {
  let refused: string | undefined;
  for (const directory of path.split(":")) {
    const found = findExecutable(name, { path: directory, cwd: "/" });
    if (found === undefined) continue;
    const isOfSystem = [found.found, found.resolved].every(
      (file) =>
        SYSTEM_PROGRAMS.some((place) => isWithin(place, file)) &&
        !directoriesDownTo(file).some(isReplaceable),
    );
    if (isOfSystem) return { program: found.resolved };
    refused ??= found.found;
  }
  return { refused };
}

/** The path and all above it. */
function directoriesDownTo(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...directoriesDownTo(parent)];
}

/** By another than the administrator. In a sticky directory only owners change names. */
function isReplaceable(path: string): boolean {
  const { uid, mode } = statSync(path);
  const user = process.geteuid?.();
  if (user === 0 ? uid !== 0 : uid === user) return true;
  return ((mode & 0o022) !== 0 || (user !== 0 && isWritableHere(path))) && (mode & 0o1000) === 0;
}

function isWritableHere(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export function isBesideDeclaration(command: string): boolean {
  return command.includes("/") && !isAbsolute(command);
}

const SYSTEM_PATH = "/usr/bin:/bin";

function rootAround(path: string, roots: Roots | undefined): string | undefined {
  const all = [roots?.project ?? "", ...(roots?.write ?? [])];
  return all.find(
    (root) => root !== "" && (isWithin(root, path) || isWithin(root, realPath(path))),
  );
}

/** The path itself where it leads nowhere. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

export interface FoundExecutable {
  /** Absolute, as found: what is started, so that a program that looks at its own name still works. */
  found: string;
  /** The same with all links resolved: what is judged. */
  resolved: string;
}

/** Which file a command name means: looked up once, before the command is judged, never by the shell. */
export function findExecutable(
  name: string,
  options: { path: string; cwd: string },
): FoundExecutable | undefined {
  if (name === "" || name.includes("\0")) return undefined;
  if (name.includes("/")) return executableAt(isAbsolute(name) ? name : `${options.cwd}/${name}`);
  for (const directory of options.path.split(":")) {
    if (!isAbsolute(directory)) continue;
    const executable = executableAt(`${directory}/${name}`);
    if (executable !== undefined) return executable;
  }
  return undefined;
}

function executableAt(place: string): FoundExecutable | undefined {
  try {
    // Most places have none, and an error for each is slow.
    if (statSync(place, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    accessSync(place, constants.X_OK);
    return { found: withoutDots(place), resolved: realpathSync.native(place) };
  } catch {
    return undefined;
  }
}

/** `link/..` is the parent of what the link leads to, so the folder is resolved before dots are taken out. */
function withoutDots(place: string): string {
  if (!place.split("/").includes("..")) return resolve(place);
  return join(realpathSync.native(dirname(place)), basename(place));
}

/** A trailing `*` matches any ending. None of these can hold a secret or load code into a program. */
export const DEFAULT_ENV_ALLOWLIST: readonly string[] =
  "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TMPDIR TERM COLORTERM NO_COLOR".split(" ");

export interface EnvironmentOptions {
  /** Instead of the default list. */
  allowlist?: readonly string[];
  /** Set regardless of the list. */
  extra?: Readonly<Record<string, string>>;
  /** The environment to choose from: that of this process unless given. */
  from?: Readonly<Record<string, string | undefined>>;
}

/** What a command may see of the runtime's environment (CMD-1): an allowlist of names, never the rest. */
export function commandEnvironment(options: EnvironmentOptions = {}): Record<string, string> {
  const { allowlist = DEFAULT_ENV_ALLOWLIST, extra = {}, from = process.env } = options;
  const environment: Record<string, string> = {};
  for (const name of Object.keys(from)) {
    // Reading a variable of the process is slow.
    const value = isAllowed(name, allowlist) ? from[name] : undefined;
    if (value !== undefined) environment[name] = value;
  }
  Object.assign(environment, extra);
  // A relative or empty entry means "wherever the command happens to be": the project could plant programs.
  const path = (environment.PATH ?? "").split(":").filter(isAbsolute).join(":");
  // An empty PATH would itself mean the working directory; without one programs use the system's own.
  if (path === "") delete environment.PATH;
  else environment.PATH = path;
  return environment;
}

/** What the runtime itself receives, such as where its home is: no wildcard gives it on that does not name more than this. */
const OWN_PREFIX = "SOONG_";

function isAllowed(name: string, allowlist: readonly string[]): boolean {
  return allowlist.some((entry) => {
    if (!entry.endsWith("*")) return name === entry;
    const start = entry.slice(0, -1);
    return name.startsWith(start) && !(name.startsWith(OWN_PREFIX) && OWN_PREFIX.startsWith(start));
  });
}
