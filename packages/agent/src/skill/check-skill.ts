// What the front matter of a SKILL.md may say, as one check. Keys that other runtimes know are no mistake: skills are
// written for all of them.

import { isMapping, kindOf, textUpTo, type FieldCheck } from "../document/index.ts";
import { isSkillName, MOST_NAME_CHARS } from "./skill.ts";

const MOST_METADATA = 100;
const MOST_TOOLS = 200;

export const checkSkill: FieldCheck = (value, path, report) => {
  if (!isMapping(value)) {
    report(
      path,
      `is ${kindOf(value)}; the front matter of a skill is a mapping with name and description`,
    );
    return;
  }
  for (const [key, check] of Object.entries(FIELDS)) {
    if (Object.hasOwn(value, key)) check(value[key], [...path, key], report);
    else if (REQUIRED.includes(key)) report([...path, key], "is missing");
  }
};

export function ignoredKeys(value: object): string[] {
  return Object.keys(value).filter((key) => !Object.hasOwn(FIELDS, key));
}

const name: FieldCheck = (value, path, report) => {
  if (isSkillName(value)) return;
  const given = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : kindOf(value);
  report(
    path,
    `is ${given}; a name is lower-case letters, digits and single hyphens between them, ${MOST_NAME_CHARS} characters at most`,
  );
};

const metadata: FieldCheck = (value, path, report) => {
  if (!isMapping(value)) {
    report(path, `is ${kindOf(value)}; a mapping of words to texts is expected`);
    return;
  }
  const entries = Object.entries(value);
  if (entries.length > MOST_METADATA) {
    report(path, `has ${entries.length} entries; ${MOST_METADATA} are the most`);
    return;
  }
  for (const [key, entry] of entries) {
    // Versions are often written without quotes.
    const isBare = typeof entry === "number" || typeof entry === "boolean";
    metadataText(isBare ? String(entry) : entry, [...path, key], report);
  }
};

const metadataText = textUpTo(2_000);

/** One text with spaces between the names, as the form has it, or a list. */
const tools: FieldCheck = (value, path, report) => {
  if (typeof value === "string") {
    if (value !== "") toolsText(value, path, report);
  } else if (!Array.isArray(value)) {
    report(path, `is ${kindOf(value)}; names of tools with spaces between them are expected`);
  } else if (value.length > MOST_TOOLS) {
    report(path, `has ${value.length} entries; ${MOST_TOOLS} are the most`);
  } else {
    for (const [index, entry] of value.entries()) toolText(entry, [...path, index], report);
  }
};

const toolsText = textUpTo(8_000);
const toolText = textUpTo(300);

const REQUIRED = ["name", "description"];
const FIELDS: Readonly<Record<string, FieldCheck>> = {
  name,
  description: textUpTo(1024),
  license: textUpTo(500),
  compatibility: textUpTo(500),
  metadata,
  "allowed-tools": tools,
};
