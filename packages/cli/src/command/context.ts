// What every command is given: the surroundings of the process, and nothing it could not be given in a test.

import type { Redactor } from "@soong/core";
import type { LoadedConfig } from "../config/index.ts";
import { UsageError, visibleLine, type Output } from "../output/index.ts";
import type { Interrupts } from "./interrupts.ts";

export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly output: Output;
  readonly stdin: NodeJS.ReadStream;
  /** Somebody sits there: a question can be put and answered. */
  readonly isInteractive: boolean;
  readonly interrupts: Interrupts;
}

export async function homeOf({ env }: CommandContext): Promise<string> {
  const { agentHome } = await import("../config/index.ts");
  try {
    return agentHome(env);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The config of the home; what is odd but no mistake is noted on stderr. */
export async function configOf(context: CommandContext): Promise<LoadedConfig> {
  const { describeConfigProblem, loadConfig } = await import("../config/index.ts");
  const config = await loadConfig({ home: await homeOf(context) });
  for (const warning of config.warnings) {
    context.output.note(`warning: ${visibleLine(describeConfigProblem(warning))}`);
  }
  return config;
}

/**
 * Knows every secret of the home (REDACT-3), for commands that show records. With a config that cannot be read, what
 * looks like a key is still hidden; `problem` says why.
 */
export async function redactorOf(
  home: string,
  env: CommandContext["env"],
  problem: (text: string) => void,
): Promise<Redactor> {
  const { createRedactor, messageOf } = await import("@soong/core");
  try {
    const [{ loadConfig }, { knownSecrets }] = await Promise.all([
      import("../config/index.ts"),
      import("../runtime/index.ts"),
    ]);
    const secrets = await knownSecrets(await loadConfig({ home }), env);
    return createRedactor({ secrets });
  } catch (error) {
    problem(
      `The config cannot be read, so only what looks like a key is hidden: ${messageOf(error)}`,
    );
    return createRedactor();
  }
}
