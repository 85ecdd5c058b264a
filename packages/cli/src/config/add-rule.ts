// "Always" (PERM-18): a rule goes to the end of the user's own config.toml, and everything else in the file stays as it is, byte
// for byte. What the file would then say is checked before it is written; several processes do it one after the other.

import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { PermissionRule } from "@soong/core";
import { writeTomlValue } from "@soong/platform";
import { ConfigError, parseConfig } from "./parse-config.ts";
import { RULE_KEYS } from "./definition.ts";
import { readSettingsFile } from "./load-config.ts";

/** Answers with the file. Throws a ConfigError where the config would not be sound with it. */
export async function addRule(home: string, rule: PermissionRule): Promise<string> {
  return addRules(home, [rule]);
}

/** All of them in one step, or none. */
export async function addRules(home: string, rules: readonly PermissionRule[]): Promise<string> {
  // Loaded with the first such answer: others do not pay for it.
  const { withFileLock, writeWholeFile } = await import("@soong/platform");
  const named = join(home, "config.toml");
  // A link stays a link.
  const file = existsSync(named) ? await realpath(named) : named;
  await withFileLock(file, {}, async () => {
    const text = (await readSettingsFile(file))?.text ?? "";
    let next = text;
    for (const rule of rules) {
      next = withRule(next, rule);
      checkRuleIsThere(next, file, rule);
    }
    await writeWholeFile(file, next);
  });
  return file;
}

/** As lines of a config. */
export function describeRule(rule: PermissionRule): string {
  return ["[[permissions.rules]]", ...renderFields(rule)].join("\n");
}

/** On one line, to be edited. */
export function ruleLine(rule: PermissionRule): string {
  return `{ ${renderFields(rule).join(", ")} }`;
}

/** What someone made of that line. A text says what is wrong with it. */
export function readRuleLine(line: string): PermissionRule | string {
  try {
    const { rules } = parseConfig(`permissions.rules = [ ${line} ]`, "the rule").permissions;
    const [given, ...more] = rules;
    if (given === undefined || more.length > 0) return "it is one table, on one line";
    if (given.decision !== "allow") return 'the decision of such a rule is "allow"';
    const { origin: _origin, ...rule } = given;
    return rule;
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((one) => one.message).join("; ");
    throw error;
  }
}

function renderFields(rule: PermissionRule): string[] {
  return RULE_KEYS.flatMap((key) => {
    const value = rule[key];
    return value === undefined ? [] : [`${key} = ${writeTomlValue(value)}`];
  });
}

function withRule(text: string, rule: PermissionRule): string {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text === "" ? "" : text.endsWith("\n") ? end : `${end}${end}`;
  return `${text}${gap}${describeRule(rule).replaceAll("\n", end)}${end}`;
}

/** A config of an odd form may read the lines as something else. */
function checkRuleIsThere(text: string, file: string, rule: PermissionRule): void {
  const last = parseConfig(text, file).permissions.rules.at(-1);
  if (last === undefined || describeRule(last) !== describeRule(rule)) {
    throw new Error(
      `${file} cannot take a rule at its end; add it by hand:\n${describeRule(rule)}`,
    );
  }
}
