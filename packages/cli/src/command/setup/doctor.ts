// `soong doctor`: everything Soong stands on, looked at once: ok, warn or fail, each with what to do (CONF-2).

import { EXIT } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { runAllChecks } from "./checks.ts";
import { showFinding } from "./finding.ts";
import { JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "doctor",
  summary: "check everything Soong needs, and say what to do",
  options: [JSON_OPTION],
  examples: ["soong doctor"],
  exitCodes: "0 nothing fails, 1 something does",
  run: runChecks,
};

async function runChecks(
  context: CommandContext,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  let exitCode: number = EXIT.ok;
  for await (const finding of runAllChecks(context)) {
    if (json) context.output.record("soong.doctor/1", finding);
    else showFinding(context.output, finding);
    if (finding.state === "fail") exitCode = EXIT.failed;
  }
  return exitCode;
}
