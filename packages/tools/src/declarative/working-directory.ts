// Where a declared command runs (DECL-5): in the project, or in the directory the declaration names. Never
// where the model says: no template reaches this.

import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { ToolFailure, type Roots } from "@soong/core";
import { isWithin } from "@soong/core/internal";
import { resolvePath } from "../path/index.ts";

/** The canonical directory: inside the project or, if `working_dir` is absolute, inside a root of the run. */
export async function workingDirectory(
  working_dir: string | undefined,
  roots: Roots,
): Promise<string> {
  if (roots.project === "" && (working_dir === undefined || !isAbsolute(working_dir))) {
    throw failure(
      "no_project",
      "This run has no project, and the tool names no absolute working_dir.",
    );
  }
  const directory = await resolvePath(
    roots.project === "" ? "/" : roots.project,
    working_dir ?? ".",
  );
  if (working_dir !== undefined) refuseOutside(working_dir, directory, roots);
  const problem = await directoryProblem(directory);
  if (problem !== undefined) {
    throw failure("working_dir_not_found", `The working directory ${directory} ${problem}.`);
  }
  return directory;
}

function refuseOutside(working_dir: string, directory: string, { project, write }: Roots): void {
  const isInProject = project !== "" && isWithin(project, directory);
  if (isInProject) return;
  if (!isAbsolute(working_dir)) {
    throw failure(
      "working_dir_outside_project",
      `working_dir ${JSON.stringify(working_dir)} leads out of the project, to ${directory}.`,
    );
  }
  if (write.some((root) => isWithin(root, directory))) return;
  throw failure(
    "working_dir_outside_roots",
    `working_dir ${directory} is neither in the project nor in one of tools.write_roots of the config; add it there if the tool may work in it.`,
  );
}

/** As a clause; undefined when it is a directory. */
export async function directoryProblem(directory: string): Promise<string | undefined> {
  try {
    return (await stat(directory)).isDirectory() ? undefined : "is not a directory";
  } catch {
    return "does not exist or cannot be reached";
  }
}

function failure(code: string, message: string): ToolFailure {
  return new ToolFailure({
    code,
    error_class: "setup_required",
    message,
    recovery: "ask_the_user",
  });
}
