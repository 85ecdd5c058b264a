// One skill from the text of its SKILL.md, or everything that is wrong with it, each with its line and key.

import { basename, dirname } from "node:path";
import { omitUndefined } from "@soong/schema";
import { controlCharacter, problemAt, type Problem, type ShapeValue } from "@soong/platform";
import { readMarkdown, rejectDocument } from "../document/index.ts";
import { ignoredKeys, SKILL } from "./check-skill.ts";
import type { Skill } from "./skill.ts";

export type ParsedSkill =
  | { readonly ok: true; readonly skill: Skill }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const MOST_BODY_CHARS = 100_000;

/** `file`: absolute; the folder it is in has the skill's name. */
export function parseSkill(text: string, file: string): ParsedSkill {
  const control = controlCharacter(text);
  if (control !== undefined) {
    const message = `holds the control character ${control.name}: it is no plain text`;
    return rejectDocument(file, message, control.line);
  }
  const checked = readMarkdown(text, file, SKILL, {
    purpose: "what the skill says",
    maxChars: MOST_BODY_CHARS,
    advice: ": move details into files beside it",
  });
  if (!checked.ok) return checked;
  const { value: written, document } = checked;
  const folder = dirname(file);
  if (written.name !== basename(folder)) {
    const message = `is "${written.name}", and its folder is ${JSON.stringify(basename(folder))}: they must be the same`;
    return { ok: false, problems: [problemAt(document, ["name"], message)] };
  }
  return { ok: true, skill: toSkill(written, { body: checked.body, folder, file }) };
}

function toSkill(
  written: ShapeValue<typeof SKILL>,
  place: Pick<Skill, "body" | "folder" | "file">,
): Skill {
  const { name, description, license, compatibility, metadata, "allowed-tools": tools } = written;
  const texts = Object.entries(metadata ?? {}).map(([key, value]) => [key, String(value)]);
  return {
    name,
    description,
    ...omitUndefined({ license, compatibility }),
    ...(metadata === undefined
      ? {}
      : { metadata: Object.fromEntries(texts) as Record<string, string> }),
    allowed_tools: typeof tools === "string" ? splitToolNames(tools) : (tools ?? []),
    ignored_keys: ignoredKeys(written),
    ...place,
  };
}

/** Between spaces or commas; parentheses belong to the name, as in `Bash(git log:*)`. */
function splitToolNames(text: string): string[] {
  return text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [];
}
