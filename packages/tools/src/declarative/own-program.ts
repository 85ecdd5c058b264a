// Whether others could change a program that is beside its declaration.

import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { isBesideDeclaration } from "@soong/platform";
import { fileTrustProblem } from "../json/index.ts";

/** As a clause; undefined for a program that is elsewhere, or that others cannot change. */
export async function ownProgramProblem(
  command: string,
  directory: string,
): Promise<string | undefined> {
  if (!isBesideDeclaration(command)) return undefined;
  try {
    const file = await realpath(join(directory, command));
    const problem = await fileTrustProblem(file);
    return problem === undefined ? undefined : `${file} ${problem}`;
  } catch {
    // It is not there, which is another question.
    return undefined;
  }
}
