// Why the runtime cannot be put together: every problem of the files in the home at once, each with its place.

import { SoongError } from "@soong/core";

export class SetupError extends SoongError {
  override readonly name = "SetupError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], next: string) {
    super("invalid_setup", [...problems, next].join("\n"), { exitCode: 2 });
    this.problems = problems;
  }
}
