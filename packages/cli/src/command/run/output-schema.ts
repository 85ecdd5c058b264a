// `--output-schema FILE`: what a final answer has to fit.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { compileExpectedOutput, type ExpectedOutput } from "@soong/agent";
import { describeProblem, parseDocument, problemAt, type Problem } from "@soong/platform";
import { readSchema } from "@soong/schema";
import { UsageError, visible, visibleLine } from "../../output/index.ts";

/** A file that cannot be used is a usage error that names the place. */
export async function loadOutputSchema(cwd: string, file: string): Promise<ExpectedOutput> {
  const path = resolve(cwd, file);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "it is not there" : `the system says ${error.code}`;
    throw new UsageError(`--output-schema: ${visibleLine(path)} cannot be read: ${why}.`);
  });
  const parsed = parseDocument(text, path, "json");
  if (!parsed.ok) throw refuseSchema(parsed.problems);
  const { document } = parsed;
  const schema = readSchema(document.value);
  if (!schema.ok) {
    throw refuseSchema(
      schema.problems.map(({ pointer, message }) =>
        problemAt(document, parsePointer(pointer), message),
      ),
    );
  }
  const expected = compileExpectedOutput(document.value);
  if (!("problem" in expected)) return expected;
  throw refuseSchema([{ file: path, message: expected.problem }]);
}

function refuseSchema(problems: readonly Problem[]): UsageError {
  const lines = problems.map((problem) => visible(describeProblem(problem)));
  return new UsageError(["--output-schema takes a file with a JSON Schema:", ...lines].join("\n"));
}

function parsePointer(pointer: string): (string | number)[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}
