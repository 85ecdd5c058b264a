// One definition from the text of its file, or everything that is wrong with it: front matter in YAML, then the system text.

import { basename } from "node:path";
import type { PermissionRule } from "@soong/core";
import { omitUndefined } from "@soong/core/internal";
import { readDocument, type Problem } from "@soong/platform";
import { splitFrontMatter } from "../document/index.ts";
import type { WrittenDefinition } from "./agent-definition.ts";
import { FILE_DEFINITION, isDefinitionId } from "./check-definition.ts";

export type ParsedDefinition =
  | { readonly ok: true; readonly definition: WrittenDefinition }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const MOST_SYSTEM_CHARS = 100_000;

/** A definition without an id has the name of its file. */
export function parseAgentDefinition(text: string, file: string): ParsedDefinition {
  const refused = (line: number, message: string): ParsedDefinition => ({
    ok: false,
    problems: [{ file, line, column: 1, message }],
  });
  const split = splitFrontMatter(text);
  if (!split.ok) return refused(split.line, split.message);
  const checked = readDocument(split.yaml, file, "yaml", FILE_DEFINITION);
  if (!checked.ok) return checked;
  if (split.body === "") {
    return refused(1, "has no text below its front matter; that is what the agent is told");
  }
  if (split.body.length > MOST_SYSTEM_CHARS) {
    const chars = `${split.body.length} characters below its front matter`;
    return refused(1, `has ${chars}; ${MOST_SYSTEM_CHARS} are the most`);
  }
  const written = checked.value as Omit<WrittenDefinition, "system" | "id"> & { id?: string };
  const id = written.id ?? basename(file, ".md");
  if (!isDefinitionId(id)) {
    return refused(1, `has a name that is no id (${JSON.stringify(id.slice(0, 80))}): give it one`);
  }
  const rules = written.rules?.map((rule, index): PermissionRule => {
    const { line } = checked.document.positionOf(["rules", index]);
    return { ...rule, origin: { file, line } };
  });
  return {
    ok: true,
    definition: { ...written, id, system: split.body, ...omitUndefined({ rules }) },
  };
}
