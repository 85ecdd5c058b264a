// What every command is given: the surroundings of the process, and nothing it could not be given in a test.

import { describeProblem, type Problem } from "@soong/platform";
import type { Redactor } from "@soong/core";
import type { LoadedConfig } from "../config/index.ts";
import { EXIT, UsageError, visibleLine, type Output } from "../output/index.ts";
import type { Interrupts } from "./signals.ts";

export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly output: Output;
  readonly stdin: NodeJS.ReadStream;
  /** Someone sits there: a question can be put and answered. */
  readonly isInteractive: boolean;
  readonly interrupts: Interrupts;
}

export async function resolveHome({ env }: CommandContext): Promise<string> {
  const { agentHome } = await import("../config/index.ts");
  try {
    return agentHome(env);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The config of the home; what is odd but no mistake is noted on stderr. */
export async function loadUserConfig(context: CommandContext): Promise<LoadedConfig> {
  const { loadConfig } = await import("../config/index.ts");
  const config = await loadConfig({ home: await resolveHome(context) });
  for (const warning of config.warnings) {
    context.output.note(`warning: ${visibleLine(describeProblem(warning))}`);
  }
  return config;
}

/** Knows every secret of the home (REDACT-3), for commands that show records; also where the config cannot be read. */
export async function createHomeRedactor(
  home: string,
  env: CommandContext["env"],
): Promise<Redactor> {
  const [{ createRedactor }, { loadConfig }, { collectSecrets }] = await Promise.all([
    import("@soong/core"),
    import("../config/index.ts"),
    import("../runtime/index.ts"),
  ]);
  const config = await loadConfig({ home }).catch(() => ({ home }));
  return createRedactor({ secrets: await collectSecrets(config, env) });
}

/** The problems of documents of the home. Returns the exit code: its author may think that such a file is in use. */
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
