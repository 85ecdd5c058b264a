// One skill from the text of its SKILL.md, or everything that is wrong with it, each with its line and key.

import { basename, dirname } from "node:path";
import { omitUndefined } from "@soong/core/internal";
import {
  controlCharacter,
  problemAt,
  readDocument,
  type Problem,
  type ShapeValue,
} from "@soong/platform";
import { splitFrontMatter } from "../document/index.ts";
import { ignoredKeys, SKILL } from "./check-skill.ts";
import type { Skill } from "./skill.ts";

export type ParsedSkill =
  | { readonly ok: true; readonly skill: Skill }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const MOST_BODY_CHARS = 100_000;

/** `file`: absolute; the folder it is in has the skill's name. */
export function parseSkill(text: string, file: string): ParsedSkill {
  const refused = (line: number, message: string): ParsedSkill => ({
    ok: false,
    problems: [{ file, line, column: 1, message }],
  });
  const control = controlCharacter(text);
  if (control !== undefined) {
    return refused(
      control.line,
      `holds the control character ${control.name}: it is no plain text`,
    );
  }
  const split = splitFrontMatter(text);
  if (!split.ok) return refused(split.line, split.message);
  const checked = readDocument(split.yaml, file, "yaml", SKILL);
  if (!checked.ok) return checked;
  if (split.body === "") {
    return refused(1, "has no text below its front matter; that is what the skill says");
  }
  if (split.body.length > MOST_BODY_CHARS) {
    return refused(
      1,
      `has ${split.body.length} characters below its front matter; ${MOST_BODY_CHARS} are the most: move details into files beside it`,
    );
  }
  const { value: written, document } = checked;
  const folder = dirname(file);
  if (written.name !== basename(folder)) {
    const message = `is "${written.name}", and its folder is ${JSON.stringify(basename(folder))}: they must be the same`;
    return { ok: false, problems: [problemAt(document, ["name"], message)] };
  }
  return { ok: true, skill: toSkill(written, { body: split.body, folder, file }) };
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

/** Between spaces or commas; what stands in parentheses belongs to its name, as in `Bash(git log:*)`. */
function splitToolNames(text: string): string[] {
  return text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [];
}
