// A skill (SKILL-1): a folder with a SKILL.md, which says how work of one kind is done.

import { createHash } from "node:crypto";

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
  /** Keys of its front matter that mean nothing here. */
  readonly ignored_keys: readonly string[];
  readonly body: string;
  /** Absolute and canonical. */
  readonly folder: string;
  readonly file: string;
}

export const SKILL_FILE = "SKILL.md";

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
export const MOST_NAME_CHARS = 64;

export function isSkillName(value: unknown): value is string {
  return typeof value === "string" && value.length <= MOST_NAME_CHARS && NAME.test(value);
}

/** Identifies one version of the text of a skill. */
export function skillHash({ body }: Pick<Skill, "body">): string {
  return createHash("sha256").update(body).digest("hex");
}
