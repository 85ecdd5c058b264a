// A memory as a file that a user can read, write and correct: front matter in YAML, then its text. A text alone is a
// memory, too: what is not said follows from where the file is.

import { basename } from "node:path";
import { omitUndefined } from "@soong/schema";
import { stringify } from "yaml";
import {
  controlCharacter,
  readDocument,
  shape,
  type Problem,
  type Shape,
  type ShapeValue,
} from "@soong/platform";
import { splitFrontMatter } from "../document/index.ts";
import {
  isMemoryId,
  MEMORY_LIMITS,
  TAG,
  type MemoryEntry,
  type MemoryOwner,
  type MemorySource,
} from "./memory-entry.ts";

export type ParsedEntry =
  | { readonly ok: true; readonly entry: MemoryEntry }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** What the place of a file says of it. */
export interface EntryPlace {
  readonly file: string;
  /** Undefined for a project that only its files name. */
  readonly owner: MemoryOwner | undefined;
  /** When nothing better is known. */
  readonly changed_at: string;
}

export function parseEntry(written: string, place: EntryPlace): ParsedEntry {
  const { file } = place;
  const refused = (line: number, message: string, field?: string): ParsedEntry => ({
    ok: false,
    problems: [{ file, line, column: 1, ...omitUndefined({ field }), message }],
  });
  const id = basename(file, ".md");
  if (!isMemoryId(id)) {
    return refused(1, 'has a name that is no id: lower-case letters, digits, "_" and "-"');
  }
  const control = controlCharacter(written);
  if (control !== undefined) {
    const message = `holds the control character ${control.name}: it is no plain text`;
    return refused(control.line, message);
  }
  const split = written.startsWith("---")
    ? splitFrontMatter(written)
    : { ok: true as const, yaml: "", body: written.trim() };
  if (!split.ok) return refused(split.line, split.message);
  const isBare = split.yaml.trim() === "";
  const checked = readDocument(isBare ? "{}" : split.yaml, file, "yaml", FRONT_MATTER);
  if (!checked.ok) return checked;
  const { value: front, document } = checked;
  const problem = contentProblem(split.body);
  if (problem !== undefined) return refused(1, `has a text that ${problem}`);
  const lineOf = (key: string): number => document.positionOf([key]).line;
  if (front.id !== undefined && front.id !== id) {
    return refused(lineOf("id"), `is "${front.id}", and the file is called ${id}.md`, "id");
  }
  const owner = resolveEntryOwner(front, place);
  if (typeof owner === "string") {
    const key = front.scope !== undefined && owner.startsWith("scope") ? "scope" : "project";
    return refused(front[key] === undefined ? 1 : lineOf(key), owner);
  }
  return {
    ok: true,
    entry: {
      ...owner,
      id,
      content: split.body,
      tags: front.tags ?? [],
      created_at: front.created_at ?? place.changed_at,
      // One that a user shortened by hand is kept as it is.
      sources: (front.sources ?? []) as readonly MemorySource[],
      conflicts_with: front.conflicts_with ?? [],
      file,
    },
  };
}

export function renderEntry(entry: Omit<MemoryEntry, "file"> & MemoryOwner): string {
  const { id, scope, tags, created_at, sources, conflicts_with, content } = entry;
  const front = {
    id,
    scope,
    ...(entry.scope === "project" ? { project: entry.project } : {}),
    ...(tags.length === 0 ? {} : { tags }),
    created_at,
    ...(sources.length === 0 ? {} : { sources }),
    ...(conflicts_with.length === 0 ? {} : { conflicts_with }),
  };
  return `---\n${stringify(front, { lineWidth: 0 })}---\n\n${content}\n`;
}

/** Why this cannot be the text of a memory, as a clause about it; undefined when it can. */
export function contentProblem(content: string): string | undefined {
  if (content.trim() === "") return "is empty";
  const { contentChars } = MEMORY_LIMITS;
  if (content.length > contentChars) {
    return `has ${content.length} characters; ${contentChars} are the most`;
  }
  const control = controlCharacter(content);
  return control === undefined ? undefined : `holds the control character ${control.name}`;
}

type WrittenFront = ShapeValue<typeof FRONT_MATTER>;

/** Or what is wrong with it. */
function resolveEntryOwner(
  { scope, project }: WrittenFront,
  { owner }: EntryPlace,
): MemoryOwner | string {
  const placed = owner?.scope ?? "project";
  if (scope !== undefined && scope !== placed) {
    return `scope is "${scope}", and the file is among the memories of the ${placed}`;
  }
  if (placed === "user") {
    return project === undefined ? { scope: "user" } : "project is given, and this is the user's";
  }
  const known = owner?.scope === "project" ? owner.project : undefined;
  const named = project ?? known;
  if (named === undefined) return "project is missing: the absolute path of the project";
  return { scope: "project", project: named };
}

const { anyText, choice, list, object, optional } = shape;

const day: Shape<string> = (value, place) => {
  const isTime = typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value);
  if (isTime && !Number.isNaN(Date.parse(value))) return;
  place.report(`is ${place.kindOf(value)}; a day or a time such as 2026-01-31 is expected`);
};

const plainText = (max: number) => shape.text({ max, plain: true });

const tag = shape.refine(plainText(MEMORY_LIMITS.tagChars), (text, place) => {
  if (!TAG.test(text)) place.report('is no tag: letters, digits, "_", "-" and "."');
});

const sourceText = optional(plainText(200));

const source = object(
  {
    session_id: sourceText,
    run_id: sourceText,
    tool_call_id: sourceText,
    candidate_id: sourceText,
  },
  { what: "a source" },
);

const FRONT_MATTER = object(
  {
    id: optional(anyText),
    scope: optional(choice(["user", "project"])),
    project: optional(plainText(4_096)),
    tags: optional(list(tag, { of: "tags", max: MEMORY_LIMITS.tags })),
    created_at: optional(day),
    sources: optional(list(source, { of: "sources", max: MEMORY_LIMITS.sources })),
    conflicts_with: optional(
      list(plainText(64), { of: "ids of memories", max: MEMORY_LIMITS.conflicts }),
    ),
  },
  { what: "a memory" },
);
