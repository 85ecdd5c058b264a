// What is wrong with a config, each finding with its place, so that it can be mended without searching
// (CONF-2). Nothing that looks like a key is ever repeated.

import { createRedactor } from "@soong/core";
import { quote } from "@soong/core/internal";
import { describeProblem, type Problem } from "@soong/platform";
import type { Place, TomlPath } from "./toml-places.ts";

/** A config that cannot be used. Its message has a line for every problem. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(describeProblem).join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

export function configProblem(
  file: string,
  { line, column }: Place,
  path: TomlPath,
  message: string,
): Problem {
  const redactor = createRedactor();
  const field = path.length === 0 ? {} : { field: redactor.text(keyName(path)) };
  return { file, line, column, ...field, message: redactor.text(message) };
}

/** A path as one would write it in TOML, with the number of an item in brackets. */
export function keyName(path: TomlPath): string {
  return path
    .map((step, index) => {
      if (typeof step === "number") return `[${step}]`;
      const name = /^[A-Za-z0-9_-]+$/.test(step) ? step : quote(step);
      return index === 0 ? name : `.${name}`;
    })
    .join("");
}
