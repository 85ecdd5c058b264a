// The args of an exec tool (DECL-3): every item by itself becomes no, one or several items of the argv, and
// is never split. A value is never the beginning of an option unless the author has closed the options.

import type { JsonObject } from "@soong/core";
import { fieldTexts, lengthProblem, optionProblem } from "./field-text.ts";
import type { FoundField, SchemaField } from "./schema-field.ts";
import { parseTemplate, templateName } from "./template.ts";

type ItemPart = { kind: "text"; text: string } | { kind: "field"; field: SchemaField };

export interface ArgvTemplate {
  readonly items: readonly (readonly ItemPart[])[];
}

export type CompiledArgv =
  | { ok: true; template: ArgvTemplate }
  | { ok: false; problems: readonly { index: number; message: string }[] };

export type Rendered<T> = { ok: true; value: T } | { ok: false; message: string };

export function compileArgv(
  args: readonly string[],
  find: (path: readonly string[]) => FoundField,
): CompiledArgv {
  const problems: { index: number; message: string }[] = [];
  const items = args.map((text, index) => {
    const report = (message: string): void => void problems.push({ index, message });
    const parsed = parseTemplate(text);
    if (!parsed.ok) {
      parsed.problems.forEach(report);
      return [];
    }
    const item: ItemPart[] = [];
    for (const part of parsed.parts) {
      if (part.kind === "text") {
        item.push(part);
        continue;
      }
      const found = find(part.path);
      if (!found.ok) report(found.message);
      else if (found.field.list && parsed.parts.length > 1) {
        report(`${templateName(part.path)} may be a list, which has to be an item by itself`);
      } else item.push({ kind: "field", field: found.field });
    }
    // An empty text is an argument, too.
    return item.length === 0 ? [{ kind: "text" as const, text: "" }] : item;
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, template: { items } };
}

export function renderArgv({ items }: ArgvTemplate, input: JsonObject): Rendered<string[]> {
  const argv: string[] = [];
  let optionsAreClosed = false;
  for (const item of items) {
    const rendered = renderItem(item, input, optionsAreClosed);
    if (!rendered.ok) return rendered;
    argv.push(...rendered.value);
    const [only] = item;
    if (item.length === 1 && only?.kind === "text" && only.text === "--") optionsAreClosed = true;
  }
  return { ok: true, value: argv };
}

function renderItem(
  item: readonly ItemPart[],
  input: JsonObject,
  optionsAreClosed: boolean,
): Rendered<string[]> {
  const [first] = item;
  let heads: readonly string[] = [""];
  for (const part of item) {
    if (part.kind === "text") {
      heads = heads.map((head) => head + part.text);
      continue;
    }
    const read = fieldTexts(part.field, input);
    if (!read.ok) return read;
    // No texts, no item.
    heads = heads.flatMap((head) => read.texts.map((text) => head + text));
  }
  for (const whole of heads) {
    const beginsWithValue = first?.kind === "field" && !optionsAreClosed;
    const message =
      lengthProblem(whole) ?? (beginsWithValue ? optionProblem(first.field, whole) : undefined);
    if (message !== undefined) return { ok: false, message };
  }
  return { ok: true, value: [...heads] };
}
