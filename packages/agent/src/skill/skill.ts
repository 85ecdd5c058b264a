// A skill (SKILL-1): a folder with a SKILL.md, which says how work of one kind is done.

import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { messageOf, type Restriction } from "@soong/core";
import { isRecord, nearestName } from "@soong/schema";
import {
  problemAt,
  shape,
  sortProblems,
  type Problem,
  type Shape,
  type UserDocument,
} from "@soong/platform";
import {
  formShape,
  listFolder,
  mapForeignTool,
  readMarkdown,
  readTextFile,
  rejectControlCharacter,
  rejectDocument,
  splitToolNames,
  type RejectedDocument,
} from "../document/index.ts";

export interface Skill {
  /** Of its folder, too. */
  readonly name: string;
  /** What it is for and when to use it. */
  readonly description: string;
  readonly license?: string;
  /** What it needs around it. */
  readonly compatibility?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Asked for, never granted. As they were written: names of other runtimes, too. */
  readonly allowed_tools: readonly string[];
  /** Only the user may use it: it is neither listed for models nor loaded by them. */
  readonly disable_model_invocation?: true;
  /** Keys of its front matter that mean nothing here. */
  readonly ignored_keys: readonly string[];
  readonly body: string;
  /** Absolute and canonical. */
  readonly folder: string;
  readonly file: string;
}

export const SKILL_FILE = "SKILL.md";

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const MOST_NAME_CHARS = 64;

export function isSkillName(value: unknown): value is string {
  return typeof value === "string" && value.length <= MOST_NAME_CHARS && NAME.test(value);
}

/** Identifies one version of the text of a skill. */
export function skillHash({ body }: Pick<Skill, "body">): string {
  return createHash("sha256").update(body).digest("hex");
}

// What the front matter of a SKILL.md may say, as one check. Keys that other runtimes know are no mistake: skills are
// written for all of them.

const MOST_METADATA = 100;

const plainText = (max: number) => shape.text({ max, plain: true });

const name = formShape(
  isSkillName,
  `a name is lower-case letters, digits and single hyphens between them, ${MOST_NAME_CHARS} characters at most`,
);

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
const toolList = shape.list(plainText(300), { max: 200 });

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
  "disable-model-invocation": shape.optional(shape.flag),
};

const SKILL = shape.object(FIELDS, {
  what: "the front matter of a skill",
  mayHaveOthers: true,
  together(value, place) {
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(FIELDS, key)) continue;
      const meant = nearestName(key, Object.keys(FIELDS));
      const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
      place.in(key).warnKey(`has no effect here${hint}`);
    }
  },
});

// One skill from the text of its SKILL.md, or everything that is wrong with it, each with its line and key.

type ParsedSkill =
  | { readonly ok: true; readonly skill: Skill; readonly warnings: readonly Problem[] }
  | RejectedDocument;

/** `file`: absolute; the folder it is in has the skill's name. */
function parseSkill(text: string, file: string): ParsedSkill {
  const control = rejectControlCharacter(text, file);
  if (control !== undefined) return control;
  const checked = readMarkdown(text, file, SKILL, {
    purpose: "what the skill says",
    maxChars: 100_000,
    advice: ": move details into files beside it",
  });
  if (!checked.ok) return checked;
  const { value: written, document, warnings } = checked;
  const folder = dirname(file);
  if (written.name !== basename(folder)) {
    const message = `is "${written.name}", and its folder is ${JSON.stringify(basename(folder))}: they must be the same`;
    return { ok: false, problems: [problemAt(document, ["name"], message)] };
  }
  const { metadata, "allowed-tools": asked, description, license, compatibility } = written;
  const texts = Object.entries(metadata ?? {}).map(([key, value]) => [key, String(value)] as const);
  const names = typeof asked === "string" ? splitToolNames(asked) : (asked ?? []);
  return {
    ok: true,
    warnings: sortProblems([...warnings, ...describeUnmapped(names, document)]),
    skill: {
      name: written.name,
      description,
      license,
      compatibility,
      metadata: metadata && Object.fromEntries(texts),
      allowed_tools: names,
      ...(written["disable-model-invocation"] === true && { disable_model_invocation: true }),
      ignored_keys: Object.keys(written).filter((key) => !Object.hasOwn(FIELDS, key)),
      body: checked.body,
      folder,
      file,
    },
  };
}

/** Names of another program that have no counterpart; a name of ours may be one of a server that is not connected. */
function describeUnmapped(names: readonly string[], document: UserDocument): Problem[] {
  return names.flatMap((name) => {
    const { why } = mapForeignTool(name);
    return why === undefined
      ? []
      : [problemAt(document, ["allowed-tools"], `${JSON.stringify(name)} ${why}`)];
  });
}

// The skills, read from their folder on each request. An invalid one is reported as a problem and does not affect the
// others; none is read from outside the folder, also not through links.

export interface LoadedSkills {
  /** By name. */
  readonly skills: readonly Skill[];
  readonly problems: readonly Problem[];
  /** What has no meaning here, of skills that can be used. */
  readonly warnings: readonly Problem[];
  /** Those that were not read, because something restricts their file. */
  readonly restricted: readonly RestrictedSkill[];
}

export interface RestrictedSkill {
  readonly name: string;
  readonly restriction: Restriction;
}

const MOST_SKILLS = 500;
const MOST_FILE_BYTES = 256 * 1024;

/** `folder`: `${SOONG_AGENT_HOME}/skills`; one that is not there holds nothing. */
export async function loadSkills(
  folder: string,
  restrictionOf: (name: string) => Promise<Restriction | undefined> = async () => undefined,
): Promise<LoadedSkills> {
  const skills: Skill[] = [];
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const restricted: RestrictedSkill[] = [];
  const wanted = {
    max: MOST_SKILLS,
    what: "folders",
    isMeant: (entry: Dirent) => entry.isDirectory() || entry.isSymbolicLink(),
  };
  for (const name of await listFolder(folder, problems, wanted)) {
    const restriction = await restrictionOf(name);
    const read = restriction === undefined ? await readSkill(folder, name) : undefined;
    if (restriction !== undefined) restricted.push({ name, restriction });
    else if (read?.ok === true) {
      skills.push(read.skill);
      warnings.push(...read.warnings);
    } else problems.push(...(read?.problems ?? []));
  }
  return { skills, problems, warnings, restricted };
}

/** By the name of its folder. */
export async function readSkill(folder: string, name: string): Promise<ParsedSkill> {
  const place = join(folder, name);
  if (!isSkillName(name)) {
    const message =
      "has a name no skill can have: lower-case letters, digits and single hyphens between them, 64 characters at most";
    return rejectDocument(place, message);
  }
  const root = await realpath(folder).catch(() => folder);
  const found = await resolveWithin(root, place);
  if (!found.ok) return rejectDocument(place, found.message);
  const file = await resolveWithin(root, join(found.path, SKILL_FILE));
  if (!file.ok) {
    const message = file.missing
      ? `has no ${SKILL_FILE}; a skill is a folder with one`
      : file.message;
    return rejectDocument(file.missing ? place : join(place, SKILL_FILE), message);
  }
  const read = await readTextFile(file.path, MOST_FILE_BYTES);
  if (!read.ok) return rejectDocument(join(place, SKILL_FILE), read.message);
  return parseSkill(read.text, join(found.path, SKILL_FILE));
}

type Found =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly missing: boolean; readonly message: string };

async function resolveWithin(root: string, path: string): Promise<Found> {
  try {
    const real = await realpath(path);
    if (real.startsWith(root + sep)) return { ok: true, path: real };
    const message = "is a link that leads out of the skills folder; copy the skill there instead";
    return { ok: false, missing: false, message };
  } catch (error) {
    const missing = (error as { code?: string }).code === "ENOENT";
    const why = missing ? "there is nothing of that name" : messageOf(error);
    return { ok: false, missing, message: `cannot be read: ${why}` };
  }
}
