// The command of a shell tool (DECL-3): a script of the author's with values in it, each in single quotes,
// which every POSIX shell reads as exactly these characters.

import type { JsonObject } from "@soong/core";
import type { Rendered } from "./argv-template.ts";
import { fieldTexts, lengthProblem, optionProblem } from "./field-text.ts";
import type { FoundField, SchemaField } from "./schema-field.ts";
import { findShellPlaces, type ShellPlace } from "./shell-places.ts";
import { parseTemplate, templateName, type FieldPart } from "./template.ts";

type ScriptPart =
  | { kind: "text"; text: string }
  | { kind: "value"; field: SchemaField; mayBeOption: boolean };

export interface ShellTemplate {
  readonly parts: readonly ScriptPart[];
}

export type CompiledShell =
  | { ok: true; template: ShellTemplate }
  | { ok: false; problems: readonly string[] };

export function compileShell(
  script: string,
  find: (path: readonly string[]) => FoundField,
): CompiledShell {
  const parsed = parseTemplate(script);
  if (!parsed.ok) return parsed;
  const found = findShellPlaces(
    script,
    parsed.parts.filter((part): part is FieldPart => part.kind === "field"),
  );
  if (!found.ok) return found;
  const problems: string[] = [];
  const parts = parsed.parts.flatMap((part): ScriptPart[] => {
    if (part.kind === "text") return [part];
    const place = found.places.find(({ template }) => template === part);
    const looked = find(part.path);
    if (!looked.ok) problems.push(looked.message);
    if (!looked.ok || place === undefined) return [];
    const misplaced = placeProblem(looked.field, place);
    if (misplaced !== undefined) problems.push(`${templateName(part.path)} ${misplaced}`);
    return [{ kind: "value", field: looked.field, mayBeOption: place.mayBeOption }];
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, template: { parts } };
}

export function renderShell({ parts }: ShellTemplate, input: JsonObject): Rendered<string> {
  let script = "";
  for (const part of parts) {
    if (part.kind === "text") {
      script += part.text;
      continue;
    }
    const read = fieldTexts(part.field, input);
    if (!read.ok) return read;
    for (const text of part.mayBeOption ? read.texts : []) {
      const message = optionProblem(part.field, text);
      if (message !== undefined) return { ok: false, message };
    }
    script += read.texts.map(singleQuoted).join(" ");
  }
  const message = lengthProblem(script);
  return message === undefined ? { ok: true, value: script } : { ok: false, message };
}

/** No or several words fit only where a whole word stands. */
function placeProblem(field: SchemaField, place: ShellPlace): string | undefined {
  const what = field.list ? "may be a list" : field.optional ? "may be absent" : undefined;
  if (what === undefined) return undefined;
  if (place.isRedirectTarget) return `${what}, which a redirection cannot take`;
  return place.wholeWord ? undefined : `${what}, so it has to be a word by itself`;
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
