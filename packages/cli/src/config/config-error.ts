// What is wrong with a config, each finding with its place, so that it can be mended without searching
// (CONF-2). Nothing that looks like a key is ever repeated.

import { createRedactor, quote } from "@soong/core";
import type { Place, TomlPath } from "./toml-places.ts";

export interface ConfigProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Such as `permissions.rules[2].decision`; empty when the file as a whole is meant. */
  readonly key: string;
  /** What is wrong, as a clause about the key, with the nearest valid key or value. */
  readonly message: string;
}

/** A config that cannot be used. Its message has a line for every problem. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(describeConfigProblem).join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** `config.toml:7:3: tools.max_timeout_ms: is text, not a whole number` */
export function describeConfigProblem(problem: ConfigProblem): string {
  const { file, line, column, key, message } = problem;
  return [`${file}:${line}:${column}`, ...(key === "" ? [] : [key]), message].join(": ");
}

export function configProblem(
  file: string,
  { line, column }: Place,
  path: TomlPath,
  message: string,
): ConfigProblem {
  const redactor = createRedactor();
  return { file, line, column, key: redactor.text(keyName(path)), message: redactor.text(message) };
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
