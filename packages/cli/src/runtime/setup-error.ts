// Why the runtime cannot be put together: every problem of the files in the home at once, each with its place.

export class SetupError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], next: string) {
    super([...problems, next].join("\n"));
    this.name = "SetupError";
    this.problems = problems;
  }
}
