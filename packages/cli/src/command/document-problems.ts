// What is wrong with documents of the home, told once for each, with its place. They cost nothing but themselves.

import { describeProblem, type Problem } from "@soong/agent";
import { EXIT, visibleLine, type Output } from "../output/index.ts";

/** Answers with the exit code: a file that cannot be used is one that somebody thinks is in use. */
export function showProblems(
  output: Output,
  schema: Parameters<Output["record"]>[0],
  problems: readonly Problem[],
  json: boolean,
): number {
  for (const problem of problems) {
    if (json) output.record(schema, { problem });
    else output.note(output.noteColours.red(visibleLine(describeProblem(problem))));
  }
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
}
