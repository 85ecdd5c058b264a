// The question before a call, at any terminal (PERM-6): its answers, why not, and "always" (PERM-18), for
// which the rule that would be written is shown, may be changed, and is kept for this project or for every one.

import type { PermissionAnswer, PermissionRequest } from "@soong/core";
import { exactText } from "@soong/core/internal";
import { describeRule, readRuleLine, ruleLine } from "../config/index.ts";

/** Who answered, on record, when it was here. */
export const TERMINAL = "terminal";
export const NO = { decision: "deny", answered_by: TERMINAL } as const;

/** A terminal of any kind. Undefined: no answer will come, because of Ctrl-C, or the call is gone. */
export interface Prompts {
  readonly show: (text: string) => void;
  readonly key: (question: string, keys: readonly string[]) => Promise<string | undefined>;
  /** What is typed is kept nowhere. */
  readonly line: (prompt: string, initial?: string) => Promise<string | undefined>;
}

interface PermissionPrompts extends Prompts {
  /** Chooses an answer; as `key`, or stricter. */
  readonly choose: Prompts["key"];
  /** Whether a rule may be changed before it is kept. */
  readonly canEdit: boolean;
  /** Where only a part of the question is shown. */
  readonly showAll?: () => void;
}

/** Undefined: there was no answer. */
export async function askPermission(
  request: Pick<PermissionRequest, "scopes" | "always_rule">,
  prompts: PermissionPrompts,
): Promise<PermissionAnswer | undefined> {
  let { showAll } = prompts;
  for (;;) {
    const answers = [
      "[y]es, once",
      ...(request.scopes.length === 0 ? [] : ["yes, for this [s]ession"]),
      ...(request.always_rule === undefined ? [] : ["al[w]ays"]),
      "[n]o",
      ...(showAll === undefined ? [] : ["show [a]ll"]),
    ];
    const keys = ["y", "n", "s", "w", "a"].filter((key) =>
      answers.some((one) => one.includes(`[${key}]`)),
    );
    const key = await prompts.choose(`${answers.join(" / ")}: `, keys);
    if (key === undefined) return undefined;
    if (key === "y") return { decision: "allow_once", answered_by: TERMINAL };
    if (key === "s") return { decision: "allow_for_session", answered_by: TERMINAL };
    if (key === "n") {
      const reason = (await prompts.line("Why not? (Enter: no reason) "))?.trim() ?? "";
      return reason === "" ? NO : { ...NO, reason };
    }
    if (key === "a") {
      showAll?.();
      showAll = undefined;
      continue;
    }
    const always = await askAlways(request, prompts);
    if (always !== undefined) {
      return { decision: "allow_for_session", always, answered_by: TERMINAL };
    }
  }
}

/** Undefined: back to the question. */
async function askAlways(
  { always_rule }: Pick<PermissionRequest, "always_rule">,
  { show, key, line, canEdit }: PermissionPrompts,
): Promise<PermissionAnswer["always"]> {
  let rule = always_rule;
  while (rule !== undefined) {
    show(exactText(describeRule(rule)));
    const edit = canEdit ? " / [c]hange it" : "";
    const question = `Keep this rule for this [p]roject / [e]very project${edit} / [b]ack: `;
    const pressed = await key(question, ["p", "e", "b", ...(canEdit ? ["c"] : [])]);
    if (pressed === "p") return { where: "project", rule };
    if (pressed === "e") return { where: "everywhere", rule };
    if (pressed !== "c") return undefined;
    const typed = await line("Rule: ", ruleLine(rule));
    if (typed === undefined) return undefined;
    const changed = typed.trim() === "" ? rule : readRuleLine(typed);
    if (typeof changed === "string") show(`That is not a rule: ${exactText(changed)}.`);
    else rule = changed;
  }
  return undefined;
}
