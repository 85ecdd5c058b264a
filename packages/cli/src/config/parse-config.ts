// The text of a config, checked and with its defaults. All mistakes are reported at once, in the order of the file.

import {
  checkDocument,
  parseDocument,
  problemAt,
  type Problem,
  type UserDocument,
} from "@soong/platform";
import { checkTogether } from "./check-together.ts";
import { ConfigError } from "./config-error.ts";
import { configShape, fillDefaults } from "./config-shape.ts";
import { SECTIONS } from "./sections.ts";
import type { SoongConfig } from "./soong-config.ts";

const SHAPE = configShape(SECTIONS);

/** Throws a ConfigError. `file` is the name its problems and rules go by. */
export function parseConfig(text: string, file: string): SoongConfig {
  return parseWithWarnings(text, file).values;
}

export function parseWithWarnings(
  text: string,
  file: string,
): { values: SoongConfig; warnings: readonly Problem[] } {
  const parsed = parseDocument(text, file, "toml");
  if (!parsed.ok) throw new ConfigError(parsed.problems);
  const { document } = parsed;
  const checked = checkDocument(document, SHAPE, { most: Infinity });
  if (!checked.ok) throw new ConfigError(checked.problems);
  const values = fillDefaults(SECTIONS, checked.value) as SoongConfig;
  const problems = checkTogether(values);
  if (problems.length > 0) {
    throw new ConfigError(problems.map(({ path, message }) => problemAt(document, path, message)));
  }
  return { values: withOrigins(values, document), warnings: checked.warnings };
}

/** Where each rule is written, so that `explain` can point at it (PERM-11). */
function withOrigins(values: SoongConfig, document: UserDocument): SoongConfig {
  const { file } = document;
  const rules = values.permissions.rules.map((rule, index) => {
    const { line } = document.positionOf(["permissions", "rules", index], "key");
    return { ...rule, origin: { file, line } };
  });
  return { ...values, permissions: { ...values.permissions, rules } };
}
