// `soong tools check`: whether declarative tools are what they should be and, with a sample, what one of them
// answers (DECL-6).

import { resolve } from "node:path";
import type { JsonObject } from "@soong/core";
import { isRecord } from "@soong/schema";
import { checkDeclarativeTool, describeProblem, type CheckedTool } from "@soong/tools";
import { EXIT, UsageError, visible, visibleLine, type Output } from "../../output/index.ts";
import { declarativeOptions, toolsFolder } from "../../runtime/index.ts";
import { loadUserConfig, resolveHome, type CommandContext } from "../context.ts";
import { argument, JSON_OPTION, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "check",
  summary: "check files that declare tools, and try one on a sample",
  arguments: [argument("<file...>", "JSON files, as in tools/ of the home")],
  options: [option("--sample <json>", "run it once with this input, without asking"), JSON_OPTION],
  examples: [
    "soong tools check ~/.soong-agent/tools/*.json",
    `soong tools check weather.json --sample '{"city": "Oslo"}'`,
  ],
  run: checkToolFiles,
};

interface ToolsCheckOptions {
  readonly json?: boolean;
  /** Input to run it with; giving it is the yes. */
  readonly sample?: string;
}

async function checkToolFiles(
  context: CommandContext,
  files: readonly string[],
  { json = false, sample }: ToolsCheckOptions,
): Promise<number> {
  if (sample !== undefined && files.length > 1) {
    throw new UsageError("--sample runs one tool: give one FILE with it.");
  }
  const { values } = await loadUserConfig(context);
  const options = {
    ...declarativeOptions(values),
    directory: toolsFolder(await resolveHome(context)),
    ...(sample === undefined
      ? {}
      : { sample: { input: parseSample(sample), project: context.cwd } }),
  };
  let exitCode: number = EXIT.ok;
  for (const file of files) {
    const checked = await checkDeclarativeTool(resolve(context.cwd, file), options);
    if (json) context.output.record("soong.tools_check/1", { file, ...checked });
    else show(context.output, file, checked);
    if (!checked.ok || checked.result?.is_error === true) exitCode = EXIT.failed;
  }
  return exitCode;
}

function parseSample(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!isRecord(value)) {
    throw new UsageError(`--sample takes a JSON object, such as '{"city": "Oslo"}'.`);
  }
  return value as JsonObject;
}

function show(output: Output, file: string, checked: CheckedTool): void {
  const { green, red } = output.colours;
  if (!checked.ok) {
    for (const problem of checked.problems) {
      output.line(`${red("fail")}  ${visibleLine(describeProblem(problem))}`);
    }
    return;
  }
  output.line(`${green("ok")}    ${visibleLine(file)}: ${checked.tool_name}`);
  if (checked.result === undefined) return;
  const { status, summary } = checked.result;
  output.line(`${checked.result.is_error ? red(status) : green(status)}: ${visible(summary)}`);
}
