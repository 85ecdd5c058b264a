// A rule that was typed on the page, read as the config is read, with what is wrong at the field it is about.

import type { PermissionRule } from "@soong/core";
import { InspectorError, type RuleChecked, type RuleTyped } from "@soong/inspector";
import { writeTomlValue } from "@soong/platform";
import { ConfigError, describeRule, readRule } from "../../config/index.ts";

export function checkTypedRule(typed: RuleTyped): RuleChecked {
  try {
    const rule = readRule(ruleText(typed));
    return { problems: [], toml: describeRule(rule), decision: rule.decision };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const isTyped = "toml" in typed;
    return {
      problems: error.problems.map(({ field = "", line, message }) => {
        const [, name] = /^permissions\.rules\[0\]\.(\w+)/.exec(field) ?? [];
        return {
          ...(name === undefined ? {} : { field: name }),
          ...(isTyped && line !== undefined ? { line } : {}),
          message,
        };
      }),
    };
  }
}

/** Throws what the page shows. */
export function requireTypedRule(typed: RuleTyped): PermissionRule {
  const { problems } = checkTypedRule(typed);
  if (problems.length === 0) return readRule(ruleText(typed));
  const text = problems.map(({ field, message }) => [field, message].filter(Boolean).join(" "));
  throw new InspectorError("bad_request", `The rule cannot be used: ${text.join("; ")}.`);
}

function ruleText(typed: RuleTyped): string {
  if ("toml" in typed) return typed.toml;
  const entries = Object.entries(typed.fields);
  const odd = entries.find(([key]) => !/^\w+$/.test(key));
  if (odd !== undefined) throw new InspectorError("bad_request", "A rule has no such field.");
  return entries.map(([key, value]) => `${key} = ${writeTomlValue(value)}\n`).join("");
}
