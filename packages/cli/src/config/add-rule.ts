// "Always" (PERM-18): a rule goes to the end of the user's own config.toml, and everything else in the file stays as it is, byte
// for byte. What the file would then say is checked before it is written; several processes do it one after the other.

import { existsSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type { PermissionRule } from "@soong/core";
import { parseDocument, writeTomlValue } from "@soong/platform";
import { asRecord } from "@soong/schema";
import { ConfigError, parseConfig } from "./parse-config.ts";
import { RULE_KEYS } from "./definition.ts";
import { readSettingsFile } from "./load-config.ts";

/** Answers with the file. Throws a ConfigError where the config would not be sound with it. */
export async function addRule(home: string, rule: PermissionRule): Promise<string> {
  return addRules(home, [rule]);
}

/** The file changed since what was to be written was shown. */
export class ConfigChanged extends Error {
  override readonly name = "ConfigChanged";
}

/** What adding rules would make of the config. */
export interface PlannedRules {
  readonly file: string;
  /** Undefined: there is none yet. */
  readonly before: string | undefined;
  readonly after: string;
  /** Where the first of them would begin. */
  readonly line: number;
}

/** All of them in one step, or none. `isExpected`: whether that is what was agreed to; otherwise throws a ConfigChanged. */
export async function addRules(
  home: string,
  rules: readonly PermissionRule[],
  isExpected: (planned: PlannedRules) => boolean = () => true,
): Promise<string> {
  // Loaded with the first such answer: others do not pay for it.
  const { withFileLock, writeWholeFile } = await import("@soong/platform");
  const file = await findConfigFile(home);
  await withFileLock(file, {}, async () => {
    const planned = await planFile(file, rules);
    if (!isExpected(planned)) throw new ConfigChanged(`${file} has changed.`);
    await writeWholeFile(file, planned.after);
  });
  return file;
}

/** Nothing is written. Throws as `addRules` does. */
export async function planRules(
  home: string,
  rules: readonly PermissionRule[],
): Promise<PlannedRules> {
  return planFile(await findConfigFile(home), rules);
}

/** A link stays a link. */
async function findConfigFile(home: string): Promise<string> {
  const named = join(home, "config.toml");
  return existsSync(named) ? realpath(named) : named;
}

async function planFile(file: string, rules: readonly PermissionRule[]): Promise<PlannedRules> {
  const before = (await readSettingsFile(file))?.text;
  // The file is replaced, which its own mode would not prevent.
  if (before !== undefined && ((await stat(file)).mode & 0o200) === 0) {
    const added = rules.map(describeRule).join("\n\n");
    throw new Error(`${file} is read-only; run chmod u+w on it, or add by hand:\n${added}`);
  }
  let after = before ?? "";
  for (const rule of rules) {
    after = withRule(after, rule);
    checkRuleIsThere(after, file, rule);
  }
  const line = parseConfig(after, file).permissions.rules.at(-rules.length)?.origin?.line ?? 1;
  return { file, before, after, line };
}

/** As lines of a config. */
export function describeRule(rule: PermissionRule): string {
  return [HEADING, ...renderFields(rule)].join("\n");
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

const HEADING = "[[permissions.rules]]";

/** One rule as lines of a config, with or without its heading, and nothing else. Throws a ConfigError, with the lines of the text. */
export function readRule(text: string): PermissionRule {
  const added = text.includes(HEADING) ? 0 : 1;
  try {
    const whole = added === 0 ? text : `${HEADING}\n${text}`;
    const { rules } = parseConfig(whole, "the rule").permissions;
    const [given, ...more] = rules;
    if (given === undefined || more.length > 0 || !isRulesAlone(whole)) {
      throw new ConfigError([{ file: "the rule", message: "is one rule, and nothing else" }]);
    }
    const { origin: _origin, ...rule } = given;
    return rule;
  } catch (error) {
    if (!(error instanceof ConfigError) || added === 0) throw error;
    throw new ConfigError(
      error.problems.map(({ line, ...problem }) => ({
        ...problem,
        ...(line === undefined ? {} : { line: Math.max(1, line - added) }),
      })),
    );
  }
}

function isRulesAlone(text: string): boolean {
  const parsed = parseDocument(text, "the rule", "toml");
  if (!parsed.ok) return false;
  const { permissions, ...others } = asRecord(parsed.document.value);
  const { rules: _rules, ...more } = asRecord(permissions);
  return Object.keys(others).length + Object.keys(more).length === 0;
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
