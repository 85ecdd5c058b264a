// A config that cannot be used (CONF-2).

import { SoongError } from "@soong/core";
import { describeProblem, type Problem } from "@soong/platform";

/** Its message has a line for every problem. */
export class ConfigError extends SoongError {
  override readonly name = "ConfigError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super("invalid_config", problems.map(describeProblem).join("\n"), { exitCode: 2 });
    this.problems = problems;
  }
}
