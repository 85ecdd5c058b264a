// What a command would run and touch, found out before anybody judges it (CMD-1, PATH-3).

import { statSync } from "node:fs";
import { homedir } from "node:os";
import { ToolFailure, type Plan, type PrepareContext } from "@soong/core";
import { resolvePath, stampOf } from "../path/index.ts";
import { findExecutable, type FoundExecutable } from "@soong/platform";
import { executableNotFound } from "./executable-not-found.ts";
import { isWithinRoots } from "./places-of-command.ts";
import { proveReadOnly } from "./prove-read-only.ts";
import { sensitiveArguments } from "./sensitive-arguments.ts";

export interface CommandInput {
  argv: string[];
  cwd?: string;
  timeout_ms?: number;
  description?: string;
}

export type Environment = Readonly<Record<string, string>>;

/** The facts of a plan: what the handler runs, and what must still be so when it does. */
export type CommandFacts = {
  /** The executable under the name it was found by; the resource has the one it leads to. */
  found: string;
  stamp: string;
  read_only: boolean;
};

export async function planCommand(
  input: CommandInput,
  context: PrepareContext,
  env: Environment,
): Promise<Plan> {
  const { argv } = input;
  const cwd = await workingDirectory(input.cwd, context);
  const executable = findExecutable(argv[0] ?? "", { path: env["PATH"] ?? "", cwd });
  if (executable === undefined) throw executableNotFound(argv, { path: env["PATH"] ?? "", cwd });
  const places = { roots: context.roots, sensitiveBy: context.sensitiveBy };
  const read_only = proveReadOnly({ argv, cwd, env, places }) !== undefined;
  const home = env["HOME"] ?? homedir();
  // Where it runs counts as one: `cat config` in ~/.ssh names no sensitive path.
  const sensitive = sensitiveArguments({ argv: [...argv, cwd], cwd, home }, context.sensitiveBy);
  const facts: CommandFacts = {
    found: executable.found,
    stamp: await stampText(executable),
    read_only,
  };
  return {
    resources: [
      { kind: "command", executable: executable.resolved, argv, cwd },
      ...sensitive.map(
        (path) => ({ kind: "path", access: "read", path, sensitive: true }) as const,
      ),
    ],
    preview: { kind: "command", argv, cwd },
    // Whatever is not proven to read only may destroy something (PERM-9).
    destructive: !read_only,
    facts,
  };
}

/** The version of an executable: an approved script that is edited meanwhile is another command. */
export async function stampText({ resolved }: FoundExecutable): Promise<string> {
  return JSON.stringify((await stampOf(resolved)) ?? null);
}

async function workingDirectory(
  given: string | undefined,
  { roots }: PrepareContext,
): Promise<string> {
  const { project } = roots;
  if (project === "") {
    throw new ToolFailure({
      code: "cwd_outside_roots",
      error_class: "setup_required",
      message:
        "This run has no project directory, so there is no place a command may run in. Start the run with one.",
      recovery: "ask_the_user",
    });
  }
  const cwd = await resolvePath(project, given ?? ".");
  if (!isWithinRoots(roots, cwd)) {
    const allowed = [project, ...roots.write].map((root) => JSON.stringify(root)).join(", ");
    throw new ToolFailure({
      code: "cwd_outside_roots",
      error_class: "invalid_arguments",
      message: `A command may not run in ${JSON.stringify(cwd)}: it is outside ${allowed}. Leave cwd out, or give a directory inside.`,
      recovery: "change_arguments",
      details: { cwd },
    });
  }
  if (!isDirectory(cwd)) {
    throw new ToolFailure({
      code: "cwd_not_found",
      error_class: "invalid_arguments",
      message: `There is no directory at ${JSON.stringify(cwd)} to run the command in. Check cwd, or leave it out.`,
      recovery: "change_arguments",
      details: { cwd },
    });
  }
  return cwd;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
