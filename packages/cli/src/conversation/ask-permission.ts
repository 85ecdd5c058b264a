// The question before a call, at any terminal (PERM-6): its answers, why not, what a yes for the session covers, and "always"
// (PERM-18), for which the rule that would be written is shown, may be changed, and is kept for this project or for every one.

import { type OfferedScope, type PermissionAnswer, type PermissionRequest } from "@soong/core";
import { commandText, exactLine, exactText } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
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

type Asked = Pick<PermissionRequest, "scopes" | "always_rule" | "scope_choices">;

/** Undefined: there was no answer. */
export async function askPermission(
  request: Asked,
  prompts: PermissionPrompts,
): Promise<PermissionAnswer | undefined> {
  let { showAll } = prompts;
  for (;;) {
    const answers = [
      "[y]es, once",
      ...(request.scopes.length === 0 ? [] : ["yes, for this [s]ession"]),
      ...(findRules(request).length === 0 ? [] : ["al[w]ays"]),
      "[n]o",
      ...(showAll === undefined ? [] : ["show [a]ll"]),
    ];
    const keys = ["y", "n", "s", "w", "a"].filter((key) =>
      answers.some((one) => one.includes(`[${key}]`)),
    );
    const key = await prompts.choose(`${answers.join(" / ")}: `, keys);
    if (key === undefined) return undefined;
    if (key === "y") return { decision: "allow_once", answered_by: TERMINAL };
    if (key === "s") {
      const chosen = await askScope("For this session", request.scope_choices ?? [], prompts);
      if (chosen === "back") continue;
      if (chosen === undefined) return undefined;
      return { decision: "allow_for_session", ...chosen.scope, answered_by: TERMINAL };
    }
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
      return { decision: "allow_for_session", ...always, answered_by: TERMINAL };
    }
  }
}

interface Chosen {
  readonly rule?: PermissionRequest["always_rule"];
  /** Nothing for the default. */
  readonly scope: Pick<PermissionAnswer, "scope">;
}

/** What a yes covers, as the user means it: all of it is above the question. */
async function askScope(
  what: string,
  choices: readonly OfferedScope[],
  { show, key }: Prompts,
): Promise<Chosen | "back" | undefined> {
  const [first, ...more] = choices;
  if (more.length === 0) return { rule: first?.always_rule, scope: {} };
  const { cwd = "" } = choices.map(findCommand).find((one) => one !== undefined) ?? {};
  show(
    [
      `In ${exactLine(cwd)}:`,
      ...choices.map(
        (choice) => `  ${KEYS[choice.id].letter}  ${describeChoice(choice, what !== ALWAYS)}`,
      ),
    ].join("\n"),
  );
  const letters = choices.map(({ id }) => KEYS[id].letter);
  const words = choices.map(({ id }) => KEYS[id].words).join(" / ");
  const pressed = await key(`${what}: ${words} / [b]ack: `, [...letters, "b"]);
  if (pressed === undefined || pressed === "b") return pressed === "b" ? "back" : undefined;
  const choice = choices.find(({ id }) => KEYS[id].letter === pressed) ?? first;
  const scope = choice === first ? {} : { scope: choice?.id };
  return { rule: choice?.always_rule, scope: omitUndefined(scope) };
}

const ALWAYS = "Always";

const KEYS = {
  exact: { letter: "e", words: "[e]xactly this command" },
  prefix: { letter: "s", words: "all that [s]tart so" },
  program: { letter: "a", words: "[a]ny arguments" },
} as const;

/** `bounded`: a grant covers no other places, while a rule with "**" covers any rest. */
function describeChoice(choice: OfferedScope, bounded: boolean): string {
  const command = findCommand(choice);
  if (command?.kind === "executable") return `${exactLine(command.executable)} with any arguments`;
  const words = `\`${commandText(command?.argv ?? [])}\``;
  return command?.kind === "argv_prefix"
    ? `those that start with ${words}${bounded ? ", naming nothing outside the project" : ""}`
    : `exactly ${words}`;
}

function findCommand({ scopes }: OfferedScope) {
  return scopes.find((scope) => "executable" in scope);
}

/** The choices of which each has a rule of its own. */
export function findRules({ always_rule, scope_choices = [] }: Asked): readonly OfferedScope[] {
  const rules = new Map(
    scope_choices
      .filter((choice) => choice.always_rule !== undefined)
      .map((choice) => [JSON.stringify(choice.always_rule), choice]),
  );
  if (rules.size > 0) return [...rules.values()];
  return always_rule === undefined
    ? []
    : [{ id: "exact", scopes: [], session_scope: "", always_rule }];
}

/** Undefined: back to the question. */
async function askAlways(
  request: Asked,
  prompts: PermissionPrompts,
): Promise<Pick<PermissionAnswer, "always" | "scope"> | undefined> {
  const { show, key, line, canEdit } = prompts;
  const chosen = await askScope(ALWAYS, findRules(request), prompts);
  if (chosen === undefined || chosen === "back") return undefined;
  let { rule } = chosen;
  while (rule !== undefined) {
    show(exactText(describeRule(rule)));
    if (rule.argv?.at(-1) === "**")
      show('The last "**" covers any further arguments, also options.');
    const edit = canEdit ? " / [c]hange it" : "";
    const question = `Keep this rule for this [p]roject / [e]very project${edit} / [b]ack: `;
    const pressed = await key(question, ["p", "e", "b", ...(canEdit ? ["c"] : [])]);
    if (pressed === "p") return { always: { where: "project", rule }, ...chosen.scope };
    if (pressed === "e") return { always: { where: "everywhere", rule }, ...chosen.scope };
    if (pressed !== "c") return undefined;
    const typed = await line("Rule: ", ruleLine(rule));
    if (typed === undefined) return undefined;
    const changed = typed.trim() === "" ? rule : readRuleLine(typed);
    if (typeof changed === "string") show(`That is not a rule: ${exactText(changed)}.`);
    else rule = changed;
  }
  return undefined;
}
