// "Always" (PERM-18): the rule that would be written is shown, may be changed, and is kept for this project or for every one.

import type { PermissionAnswer, PermissionRequest } from "@soong/core";
import { exactText } from "@soong/core/internal";
import { describeRule, readRuleLine, ruleLine } from "../config/index.ts";

export interface AlwaysPrompts {
  readonly show: (text: string) => void;
  /** Undefined: the question is settled, or no one is there. */
  readonly key: (question: string, keys: readonly string[]) => Promise<string | undefined>;
  /** Default: the rule is kept as it is shown. */
  readonly line?: (prompt: string, initial: string) => Promise<string | undefined>;
}

/** Undefined: back to the question. */
export async function askAlways(
  { always_rule }: Pick<PermissionRequest, "always_rule">,
  { show, key, line }: AlwaysPrompts,
): Promise<PermissionAnswer["always"]> {
  let rule = always_rule;
  while (rule !== undefined) {
    show(exactText(describeRule(rule)));
    const edit = line === undefined ? "" : " / [c]hange it";
    const keys = ["p", "e", "b", ...(line === undefined ? [] : ["c"])];
    const question = `Keep this rule for this [p]roject / [e]very project${edit} / [b]ack: `;
    const pressed = await key(question, keys);
    if (pressed === "p") return { where: "project", rule };
    if (pressed === "e") return { where: "everywhere", rule };
    if (pressed !== "c" || line === undefined) return undefined;
    const typed = await line("Rule: ", ruleLine(rule));
    if (typed === undefined) return undefined;
    const changed = typed.trim() === "" ? rule : readRuleLine(typed);
    if (typeof changed === "string") show(`That is no rule: ${exactText(changed)}.`);
    else rule = changed;
  }
  return undefined;
}
