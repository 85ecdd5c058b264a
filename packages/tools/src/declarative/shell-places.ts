// Where in an author's script a template is (DECL-3). A value is put there in single quotes, which hold
// only in plain words; so every place that is not proven to be one is refused. This is no parser: what it
// cannot follow (a here-document, a substitution inside double quotes) ends in a refusal, never a guess.

import { ShellWords } from "./shell-words.ts";
import { templateName, type FieldPart } from "./template.ts";

export interface ShellPlace {
  readonly template: FieldPart;
  /** Nothing else belongs to its word, so that it may vanish or become several. */
  readonly wholeWord: boolean;
  /** Its value could begin its word, and no `--` is before it in its command. */
  readonly mayBeOption: boolean;
  readonly isRedirectTarget: boolean;
}

export type ShellPlaces =
  | { ok: true; places: readonly ShellPlace[] }
  | { ok: false; problems: readonly string[] };

export function findShellPlaces(script: string, templates: readonly FieldPart[]): ShellPlaces {
  const problems: string[] = [];
  const places: ShellPlace[] = [];
  const templateAt = new Map(templates.map((template) => [template.start, template]));
  const words = new ShellWords();
  let at = 0;

  while (at < script.length) {
    const template = templateAt.get(at);
    const char = script[at] ?? "";
    if (template !== undefined) takeTemplate(template);
    else if (char === "\\") takeBackslash();
    else if (char === "'") takeSingleQuotes();
    else if (char === '"') takeDoubleQuotes();
    else if (char === "`") takeExpansion("backticks around more than plain words");
    else if (char === "$") takeDollar();
    else if (char === "#" && !words.isOpen) passOver(endOfLine(script, at), "in a comment");
    else if (script.startsWith("<<", at))
      passOver(script.length, "behind a here-document's beginning");
    else if (script.startsWith("((", at)) giveUp('"((", which is not the same in every shell');
    else at += words.take(script, at);
  }
  if (templates.length === 0) return { ok: true, places: [] };
  return problems.length > 0 ? { ok: false, problems } : { ok: true, places };

  function takeTemplate(template: FieldPart): void {
    const problem = words.templateProblem();
    if (problem !== undefined) refuse(template, problem);
    const beginsWord = !words.isOpen;
    const next = script[template.end];
    places.push({
      template,
      wholeWord: beginsWord && (next === undefined || ShellWords.endsWord(next)),
      mayBeOption: words.mayBeginOption,
      isRedirectTarget: words.isRedirectTarget,
    });
    words.addValue();
    at = template.end;
  }

  function takeBackslash(): void {
    const template = templateAt.get(at + 1);
    if (template !== undefined) {
      refuse(template, "comes after a backslash, which would undo its quotes");
      at += 1;
      return;
    }
    // A backslash at the end of a line is nothing at all: the word continues, if there is one.
    if (script[at + 1] !== "\n") words.addText(script[at + 1] ?? "\\");
    at += 2;
  }

  function takeSingleQuotes(): void {
    const end = script.indexOf("'", at + 1);
    if (end === -1) {
      giveUp("a single quote that is never closed");
      return;
    }
    words.addText(script.slice(at + 1, end));
    passOver(end + 1, "in single quotes");
  }

  function takeDoubleQuotes(): void {
    let end = at + 1;
    while (end < script.length && script[end] !== '"') {
      const char = script[end];
      const length =
        char === "\\" ? 2 : char === "$" || char === "`" ? plainExpansion(script, end) : 1;
      if (length === undefined) {
        passOver(end, "in double quotes");
        giveUp("an expansion inside double quotes that is not a plain one");
        return;
      }
      end += length;
    }
    if (end >= script.length) {
      giveUp("a double quote that is never closed");
      return;
    }
    words.addText(script.slice(at + 1, end));
    passOver(end + 1, "in double quotes");
  }

  function takeDollar(): void {
    const template = templateAt.get(at + 1);
    if (template !== undefined) {
      refuse(template, 'is behind "$", which would change the meaning of its quotes');
      at += 1;
    } else if (
      plainExpansion(script, at) === undefined &&
      /^\$\([^(]/.test(script.slice(at, at + 3))
    ) {
      takeSubstitution();
    } else
      takeExpansion(`${JSON.stringify(script.slice(at, at + 3))}, where no plain expansion begins`);
  }

  /** What is in `$(…)` is a script of its own, in which quotes mean what they mean outside. */
  function takeSubstitution(): void {
    if (/\bcase\b/.test(script)) {
      giveUp('"case" beside a command substitution, whose end cannot be found');
      return;
    }
    words.openSubstitution();
    at += 2;
  }

  function takeExpansion(otherwise: string): void {
    const length = plainExpansion(script, at);
    if (length === undefined) {
      giveUp(otherwise);
      return;
    }
    words.addText("$");
    at += length;
  }

  /** Over a stretch in which no template may stand. */
  function passOver(end: number, where: string): void {
    for (const template of templates) {
      if (template.start >= at && template.start < end) {
        refuse(template, `is ${where}, where its own quotes would not hold`);
      }
    }
    at = end;
  }

  function refuse(template: FieldPart, why: string): void {
    problems.push(`${templateName(template.path)} ${why}`);
  }

  function giveUp(what: string): void {
    problems.push(`has ${what}; in such a script no template can be quoted safely`);
    at = script.length;
  }
}

/** The length of an expansion without any quotes, braces or brackets of its own; undefined for any other. */
function plainExpansion(script: string, at: number): number | undefined {
  for (const pattern of PLAIN_EXPANSIONS) {
    pattern.lastIndex = at;
    const [whole] = pattern.exec(script) ?? [];
    if (whole !== undefined) return whole.length;
  }
  return undefined;
}

const PLAIN_EXPANSIONS = [
  /\$[A-Za-z0-9_@*#?$!-]/y,
  /\$\{[A-Za-z0-9_@*#?$!:=+%/.,^~-]*\}/y,
  /\$\(\([A-Za-z0-9_$+*/%<>=!?:|&^~ -]*\)\)/y,
  // Without a case, whose patterns end in a bracket of their own.
  /\$\((?![^)]*\bcase\b)[A-Za-z0-9_$./:=+,@%|^~ -]*\)/y,
  /`[A-Za-z0-9_$./:=+,@%|^~ -]*`/y,
  // A dollar before nothing it could expand is just a dollar.
  /\$(?=[\s/.,:;=%+^~\]|&)<>]|$)/y,
];

function endOfLine(script: string, at: number): number {
  const end = script.indexOf("\n", at);
  return end === -1 ? script.length : end;
}
