// `--output-schema FILE`: what a final answer has to fit.

import { resolve } from "node:path";
import { compileExpectedOutput, type ExpectedOutput } from "@soong/agent";
import {
  describeProblem,
  parseDocument,
  problemAt,
  readBoundedFile,
  type Problem,
} from "@soong/platform";
import {
  asRecord,
  createRegex,
  forEachSchema,
  readSchema,
  type JsonSchema,
  type SchemaProblem,
} from "@soong/schema";
import { UsageError, visible, visibleLine } from "../../output/index.ts";

const MOST_BYTES = 4 * 1024 * 1024;

/** A file that cannot be used is a usage error that names the place. */
export async function loadOutputSchema(cwd: string, file: string): Promise<ExpectedOutput> {
  const path = resolve(cwd, file);
  const refuse = (why: string): never => {
    throw new UsageError(`--output-schema: ${visibleLine(path)} cannot be read: ${why}.`);
  };
  const read = await readBoundedFile(path, MOST_BYTES).catch((error: NodeJS.ErrnoException) =>
    refuse(error.code === "ENOENT" ? "it is not there" : `the system says ${error.code}`),
  );
  if (read.kind !== "file") return refuse(`it is no file of at most ${MOST_BYTES} bytes`);
  const parsed = parseDocument(read.bytes.toString("utf8"), path, "json");
  if (!parsed.ok) throw refuseSchema(parsed.problems);
  const { document } = parsed;
  const schema = readSchema(document.value);
  const problems = schema.ok ? findUncheckable(schema.original) : schema.problems;
  if (problems.length > 0) {
    throw refuseSchema(
      problems.map(({ pointer, message }) => problemAt(document, parsePointer(pointer), message)),
    );
  }
  const expected = compileExpectedOutput(document.value);
  if (!("problem" in expected)) return expected;
  throw refuseSchema([{ file: path, message: expected.problem }]);
}

/** Of a tool such a pattern is passed over; here nothing may be printed that was not checked. */
function findUncheckable(schema: JsonSchema): Pick<SchemaProblem, "pointer" | "message">[] {
  const problems: Pick<SchemaProblem, "pointer" | "message">[] = [];
  forEachSchema(schema, ({ pattern, patternProperties }, pointer) => {
    if (typeof pattern === "string") check(pattern, `${pointer}/pattern`);
    for (const source of Object.keys(asRecord(patternProperties))) {
      check(source, `${pointer}/patternProperties`);
    }
  });
  return problems;

  function check(source: string, pointer: string): void {
    const made = createRegex(source);
    if (!made.ok) problems.push({ pointer, message: `cannot be checked: ${made.message}` });
  }
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
