// `soong tools check`: whether declarative tools are what they should be and, with a sample, what one of them
// answers (DECL-6).

import { resolve } from "node:path";
import type { JsonObject } from "@soong/core";
import { isRecord } from "@soong/schema";
import { checkDeclarativeTool, describeProblem } from "@soong/tools";
import { EXIT, UsageError, visible, visibleLine } from "../../output/index.ts";
import { declarativeOptions } from "../../runtime/user-tools.ts";
import { homePaths } from "../../runtime/home.ts";
import { loadUserConfig } from "../context.ts";
import type { Handler } from "../handler.ts";

/** `sample`: input to run it with; giving it is the yes. */
export const checkToolFiles: Handler<"tools check"> = async (
  context,
  { file: files },
  { sample },
) => {
  if (sample !== undefined && files.length > 1) {
    throw new UsageError("--sample runs one tool: give one FILE with it.");
  }
  const { values, home } = await loadUserConfig(context);
  const options = {
    ...declarativeOptions(values),
    directory: homePaths(home).tools,
    ...(sample === undefined
      ? {}
      : { sample: { input: parseSample(sample), project: context.cwd } }),
  };
  const { green, red } = context.output.colours;
  let exitCode: number = EXIT.ok;
  for (const file of files) {
    const checked = await checkDeclarativeTool(resolve(context.cwd, file), options);
    if (!checked.ok || checked.result?.is_error === true) exitCode = EXIT.failed;
    context.print({ file, ...checked }, () => {
      if (!checked.ok) {
        return checked.problems.map(
          (one) => `${red("fail")}  ${visibleLine(describeProblem(one))}`,
        );
      }
      const line = `${green("ok")}    ${visibleLine(file)}: ${checked.tool_name}`;
      if (checked.result === undefined) return line;
      const { status, summary, is_error } = checked.result;
      return [line, `${(is_error ? red : green)(status)}: ${visible(summary)}`];
    });
  }
  return exitCode;
};

function parseSample(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value as JsonObject;
  } catch {
    // Reported below.
  }
  throw new UsageError(`--sample takes a JSON object, such as '{"city": "Oslo"}'.`);
}
