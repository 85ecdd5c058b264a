// The text of a config, checked and with its defaults. All mistakes are told at once, in the order of the
// file.

import { sortProblems, type Problem } from "@soong/platform";
import { checkPolicy } from "./check-policy.ts";
import { checkTogether, keysWritten } from "./check-together.ts";
import { checkValues, type Finding } from "./check-values.ts";
import { ConfigError, configProblem, keyName } from "./config-error.ts";
import { readDocument } from "./read-document.ts";
import { SECTIONS } from "./sections.ts";
import type { SoongConfig } from "./soong-config.ts";
import type { TomlPlaces } from "./toml-places.ts";

/** Throws a ConfigError. `file` is the name its problems and rules go by. */
export function parseConfig(text: string, file: string): SoongConfig {
  return parseWithWarnings(text, file).values;
}

export function parseWithWarnings(
  text: string,
  file: string,
): { values: SoongConfig; warnings: readonly Problem[] } {
  const { values: document, places } = readDocument(text, file);
  const checked = checkValues(SECTIONS, document);
  const values = checked.values as SoongConfig;
  const findings = [...keysWritten(document), ...checked.findings, ...checkPolicy(values)];
  const sound = findings.every(({ weight }) => weight === "warning");
  if (sound) findings.push(...checkTogether(values));
  const problems = located(findings, "problem", places, file);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    values: withOrigins(values, places, file),
    warnings: located(findings, "warning", places, file),
  };
}

/** One finding a key: the first says what matters, and may be that nothing more must be said. */
function located(
  findings: readonly Finding[],
  weight: Finding["weight"],
  places: TomlPlaces,
  file: string,
): Problem[] {
  const byKey = new Map<string, Problem>();
  for (const finding of findings) {
    const { path, at, message } = finding;
    const name = keyName(path);
    if (finding.weight !== weight || byKey.has(name)) continue;
    const place = at === "key" ? places.keyPlace(path) : places.valuePlace(path);
    byKey.set(name, configProblem(file, place, path, message));
  }
  return sortProblems([...byKey.values()]);
}

/** Where each rule stands, so that `explain` can point at it (PERM-11). */
function withOrigins(values: SoongConfig, places: TomlPlaces, file: string): SoongConfig {
  const rules = values.permissions.rules.map((rule, index) => {
    const { line } = places.keyPlace(["permissions", "rules", index]);
    return { ...rule, origin: { file, line } };
  });
  return { ...values, permissions: { ...values.permissions, rules } };
}
