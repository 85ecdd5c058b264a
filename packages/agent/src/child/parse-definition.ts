// One definition from the text of its file, or everything that is wrong with it: front matter in YAML, then the system text.

import { basename } from "node:path";
import type { PermissionRule } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { Problem } from "@soong/platform";
import { readMarkdown, rejectDocument } from "../document/index.ts";
import type { WrittenDefinition } from "./agent-definition.ts";
import { FILE_DEFINITION, isDefinitionId } from "./check-definition.ts";

export type ParsedDefinition =
  | { readonly ok: true; readonly definition: WrittenDefinition }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const MOST_SYSTEM_CHARS = 100_000;

/** A definition without an id has the name of its file. */
export function parseAgentDefinition(text: string, file: string): ParsedDefinition {
  const checked = readMarkdown(text, file, FILE_DEFINITION, {
    purpose: "what the agent is told",
    maxChars: MOST_SYSTEM_CHARS,
  });
  if (!checked.ok) return checked;
  const written = checked.value as Omit<WrittenDefinition, "system" | "id"> & { id?: string };
  const id = written.id ?? basename(file, ".md");
  if (!isDefinitionId(id)) {
    const given = JSON.stringify(id.slice(0, 80));
    return rejectDocument(file, `has a name that is no id (${given}): give it one`);
  }
  const rules = written.rules?.map((rule, index): PermissionRule => {
    const { line } = checked.document.positionOf(["rules", index]);
    return { ...rule, origin: { file, line } };
  });
  return {
    ok: true,
    definition: { ...written, id, system: checked.body, ...omitUndefined({ rules }) },
  };
}
