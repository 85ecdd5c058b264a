// What the front matter of a SKILL.md may say, as one check. Keys that other runtimes know are no mistake: skills are
// written for all of them.

import { isRecord } from "@soong/schema";
import { shape, type Shape } from "@soong/platform";
import { isSkillName, MOST_NAME_CHARS } from "./skill.ts";

const MOST_METADATA = 100;
const MOST_TOOLS = 200;

export function ignoredKeys(value: object): string[] {
  return Object.keys(value).filter((key) => !Object.hasOwn(FIELDS, key));
}

const plainText = (max: number) => shape.text({ max, plain: true });

const name: Shape<string> = (value, place) => {
  if (isSkillName(value)) return;
  const given =
    typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : place.kindOf(value);
  place.report(
    `is ${given}; a name is lower-case letters, digits and single hyphens between them, ${MOST_NAME_CHARS} characters at most`,
  );
};

const metadataText = plainText(2_000);

const metadata: Shape<Readonly<Record<string, string | number | boolean>>> = (value, place) => {
  if (!isRecord(value)) {
    place.report(`is ${place.kindOf(value)}; a mapping of words to texts is expected`);
    return;
  }
  const entries = Object.entries(value);
  if (entries.length > MOST_METADATA) {
    place.report(`has ${entries.length} items; at most ${MOST_METADATA} are allowed`);
    return;
  }
  for (const [key, entry] of entries) {
    // Versions are often written without quotes.
    const isBare = typeof entry === "number" || typeof entry === "boolean";
    metadataText(isBare ? String(entry) : entry, place.in(key));
  }
};

const toolsText = plainText(8_000);
const toolList = shape.list(plainText(300), { max: MOST_TOOLS });

/** One text with spaces between the names, as the form has it, or a list. */
const tools: Shape<string | readonly string[]> = (value, place) => {
  if (typeof value === "string") {
    if (value !== "") toolsText(value, place);
  } else if (Array.isArray(value)) toolList(value, place);
  else {
    place.report(`is ${place.kindOf(value)}; names of tools with spaces between them are expected`);
  }
};

const FIELDS = {
  name,
  description: plainText(1024),
  license: shape.optional(plainText(500)),
  compatibility: shape.optional(plainText(500)),
  metadata: shape.optional(metadata),
  "allowed-tools": shape.optional(tools),
};

export const SKILL = shape.object(FIELDS, {
  what: "the front matter of a skill",
  mayHaveOthers: true,
});
