// Which program a declaration or a hook means, and the PATH it is found on. A program the agent could have
// written is never run by name: nothing of the project is looked at, on no PATH and by no relative name.

import { realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { ToolFailure, type Roots } from "@soong/core";
import { fileTrustProblem } from "../json/index.ts";
import {
  commandEnvironment,
  DEFAULT_ENV_ALLOWLIST,
  findExecutable,
  type FoundExecutable,
} from "../process/index.ts";

export interface ProgramPlaces {
  /** Where the declaration stands: a relative name with a slash is meant from there, and is as trusted. */
  readonly directory: string;
  /** Where the agent works; undefined before anyone knows. */
  readonly roots: Roots | undefined;
}

/** Throws a ToolFailure that says why the program cannot be run. */
export function findProgram(
  command: string,
  places: ProgramPlaces,
  env: Readonly<Record<string, string>>,
): FoundExecutable {
  const name = isBeside(command) ? join(places.directory, command) : command;
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
  const root = writableRootOf(program, places);
  if (root === undefined) return program;
  throw new ToolFailure({
    code: "executable_in_project",
    error_class: "policy_blocked",
    message: `${program.found} is inside ${root}, where the agent may write; a program from there is never run by a declaration. Install it elsewhere.`,
    recovery: "ask_the_user",
  });
}

/** Why others could change a program that stands beside its declaration, as a clause; undefined for any other. */
export async function ownProgramProblem(
  command: string,
  directory: string,
): Promise<string | undefined> {
  if (!isBeside(command)) return undefined;
  try {
    const file = await realpath(join(directory, command));
    const problem = await fileTrustProblem(file);
    return problem === undefined ? undefined : `${file} ${problem}`;
  } catch {
    // It is not there, which is another question.
    return undefined;
  }
}

/** The minimal environment (DECL-5): the default names, those listed, and a PATH without the project. */
export function programEnvironment(
  allowlist: readonly string[],
  roots: Roots | undefined,
): Record<string, string> {
  const env = commandEnvironment({ allowlist: [...DEFAULT_ENV_ALLOWLIST, ...allowlist] });
  const entries = (env["PATH"] ?? SYSTEM_PATH).split(":");
  const kept = entries.filter((entry) => !rootsOf(roots).some((root) => liesIn(root, entry)));
  // Node's pipes are sockets, and bash takes a socket on its stdin for a remote login unless it is told that
  // a shell is around it: it would read ~/.bashrc first.
  return { ...env, SHLVL: "1", PATH: kept.length === 0 ? SYSTEM_PATH : kept.join(":") };
}

export function isWithin(root: string, path: string): boolean {
  return root === "/" || path === root || path.startsWith(`${root}/`);
}

function isBeside(command: string): boolean {
  return command.includes("/") && !isAbsolute(command);
}

const SYSTEM_PATH = "/usr/bin:/bin";

function rootsOf(roots: Roots | undefined): readonly string[] {
  return [roots?.project ?? "", ...(roots?.write ?? [])].filter((root) => root !== "");
}

/** Both the name it is found by and the file behind it count: either could be planted. */
function writableRootOf(
  { found, resolved }: FoundExecutable,
  { directory, roots }: ProgramPlaces,
): string | undefined {
  return rootsOf(roots).find((root) =>
    [found, resolved].some((path) => liesIn(root, path) && !isWithin(directory, path)),
  );
}

function liesIn(root: string, path: string): boolean {
  if (isWithin(root, path)) return true;
  try {
    return isWithin(root, realpathSync.native(path));
  } catch {
    return false;
  }
}
