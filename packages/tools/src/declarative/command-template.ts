// The command of a declared tool with values in it (DECL-3). The args of an exec tool: every item on its own becomes
// no, one or several items of the argv, and is never split. The script of a shell tool: each value in single quotes,
// which every POSIX shell reads as exactly these characters. A value is never the beginning of an option unless the
// author has closed the options; one that a program could not receive as it is, or would take for something else,
// is refused in words the model can act on.

import type { JsonObject, JsonValue } from "@soong/core";
import { invalidArguments } from "@soong/core/internal";
import { isRecord } from "@soong/schema";
import type { FoundField, SchemaField } from "./schema-field.ts";
import { findShellPlaces, type ShellPlace } from "./shell-places.ts";
import { parseTemplate, templateName, type FieldPart } from "./template.ts";

type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "field"; readonly field: SchemaField; readonly mayBeOption: boolean };

export type ArgvTemplate = readonly (readonly Part[])[];
export type ShellTemplate = readonly Part[];

type FindField = (path: readonly string[]) => FoundField;

/** Undefined where it reported a problem with an item. */
export function compileArgv(
  args: readonly string[],
  find: FindField,
  report: (index: number, message: string) => void,
): ArgvTemplate | undefined {
  let isSound = true;
  let optionsAreClosed = false;
  const items = args.map((text, index) => {
    const refuse = (message: string): void => {
      isSound = false;
      report(index, message);
    };
    const parsed = parseTemplate(text);
    if (!parsed.ok) {
      parsed.problems.forEach(refuse);
      return [];
    }
    const item: Part[] = [];
    for (const part of parsed.parts) {
      if (part.kind === "text") {
        item.push(part);
        continue;
      }
      const found = find(part.path);
      const mayBeOption = item.length === 0 && !optionsAreClosed;
      if (!found.ok) refuse(found.message);
      else if (found.field.list && parsed.parts.length > 1) {
        refuse(`${templateName(part.path)} may be a list, which must be a separate item`);
      } else item.push({ kind: "field", field: found.field, mayBeOption });
    }
    if (text === "--") optionsAreClosed = true;
    // An empty text is an argument, too.
    return item.length === 0 ? [{ kind: "text" as const, text: "" }] : item;
  });
  return isSound ? items : undefined;
}

/** Throws a ToolFailure for a value that cannot stand where it would. */
export function renderArgv(items: ArgvTemplate, input: JsonObject): string[] {
  return items.flatMap((item) => {
    let heads: readonly string[] = [""];
    for (const part of item) {
      // No texts, no item.
      const texts = part.kind === "text" ? [part.text] : fieldTexts(part.field, input);
      heads = heads.flatMap((head) => texts.map((text) => head + text));
    }
    const [first] = item;
    for (const whole of heads) {
      checkLength(whole);
      if (first?.kind === "field" && first.mayBeOption) checkOption(first.field, whole);
    }
    return heads;
  });
}

/** Undefined where it reported a problem. */
export function compileShell(
  script: string,
  find: FindField,
  report: (message: string) => void,
): ShellTemplate | undefined {
  const parsed = parseTemplate(script);
  const parts = parsed.ok ? parsed.parts : [];
  const fields = parts.filter((part): part is FieldPart => part.kind === "field");
  const placed = parsed.ok ? findShellPlaces(script, fields) : parsed;
  const problems = placed.ok ? [] : [...placed.problems];
  const places = placed.ok ? placed.places : [];
  const compiled = parts.flatMap((part): Part[] => {
    if (part.kind === "text") return [part];
    const place = places.find(({ template }) => template === part);
    if (place === undefined) return [];
    const found = find(part.path);
    if (!found.ok) {
      problems.push(found.message);
      return [];
    }
    const { field } = found;
    const misplaced = placeProblem(field, place);
    if (misplaced !== undefined) problems.push(`${templateName(part.path)} ${misplaced}`);
    return [{ kind: "field", field, mayBeOption: place.mayBeOption }];
  });
  problems.forEach(report);
  return problems.length === 0 ? compiled : undefined;
}

/** No or several words fit only in place of a whole word. */
function placeProblem(field: SchemaField, place: ShellPlace): string | undefined {
  const what = field.list ? "may be a list" : field.optional ? "may be absent" : undefined;
  if (what === undefined) return undefined;
  if (place.isRedirectTarget) return `${what}, which a redirection cannot take`;
  return place.wholeWord ? undefined : `${what}, so it must be a separate word`;
}

export function renderShell(parts: ShellTemplate, input: JsonObject): string {
  const script = parts.map((part) => {
    if (part.kind === "text") return part.text;
    const texts = fieldTexts(part.field, input);
    if (part.mayBeOption) for (const text of texts) checkOption(part.field, text);
    return texts.map((text) => `'${text.replaceAll("'", `'\\''`)}'`).join(" ");
  });
  return checkLength(script.join(""));
}

/** The texts of a field: none when it is absent, several for a list. */
function fieldTexts({ path }: SchemaField, input: JsonObject): string[] {
  let value: JsonValue | undefined = input;
  for (const step of path) {
    value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  if (value === undefined || value === null) return [];
  const entries = Array.isArray(value) ? value : [value];
  return entries.map((entry, index) => {
    const name = path.join(".") + (entries === value ? `[${index}]` : "");
    if (typeof entry === "object") throw refuse(`${name} is not text, a number, true or false`);
    const text = typeof entry === "string" ? entry : JSON.stringify(entry);
    if (text.includes("\0")) {
      throw refuse(`${name} contains a NUL character, which no command line can hold`);
    }
    if (!/\p{Surrogate}/u.test(text)) return text;
    throw refuse(`${name} contains half a character (a lone surrogate)`);
  });
}

/** A value a program would take for an option; the model must not choose options by way of a value. */
function checkOption({ path, enumerated }: SchemaField, item: string): void {
  if (!item.startsWith("-") || enumerated) return;
  const shown = JSON.stringify(item.slice(0, 100));
  throw refuse(
    `${path.join(".")} makes ${shown}, which begins with "-" and would be taken for an option; give another value (for a file, begin with "./")`,
  );
}

/** The system refuses longer ones with a word that says nothing. */
function checkLength(item: string): string {
  if (Buffer.byteLength(item) <= MAX_ITEM_BYTES) return item;
  throw refuse(
    `the values make an item of more than ${MAX_ITEM_BYTES} bytes, which is too long for a command line; give shorter ones`,
  );
}

/** Linux takes 128 KiB with the NUL at the end. */
const MAX_ITEM_BYTES = 128 * 1024 - 1;

function refuse(message: string): Error {
  return invalidArguments("invalid_arguments", message);
}
