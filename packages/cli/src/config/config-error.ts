// A config that cannot be used (CONF-2).

import { describeProblem, type Problem } from "@soong/platform";

/** Its message has a line for every problem. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(describeProblem).join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}
