// A memory as a file that a person can read, write and correct: front matter in YAML, then its text. A text alone is a
// memory, too: what is not said follows from where the file is.

import { basename } from "node:path";
import { stringify } from "yaml";
import {
  checkedDocument,
  controlCharacter,
  kindOf,
  listOf,
  mapping,
  oneOf,
  splitFrontMatter,
  text,
  textUpTo,
  type DocumentProblem,
  type FieldCheck,
} from "../document/index.ts";
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
  | { readonly ok: false; readonly problems: readonly DocumentProblem[] };

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
    problems: [{ file, line, column: 1, ...(field === undefined ? {} : { field }), message }],
  });
  const id = basename(file, ".md");
  if (!isMemoryId(id)) {
    return refused(1, 'has a name that is no id: lower-case letters, digits, "_" and "-"');
  }
  const control = controlCharacter(written);
  if (control !== undefined) {
    return refused(
      control.line,
      `holds the control character ${control.name}: it is no plain text`,
    );
  }
  const split = written.startsWith("---")
    ? splitFrontMatter(written)
    : { ok: true as const, yaml: "", body: written.trim() };
  if (!split.ok) return refused(split.line, split.message);
  const isBare = split.yaml.trim() === "";
  const checked = checkedDocument(isBare ? "{}" : split.yaml, file, checkFrontMatter);
  if (!checked.ok) return checked;
  const front = checked.value as WrittenFront;
  const problem = contentProblem(split.body);
  if (problem !== undefined) return refused(1, `has a text that ${problem}`);
  const lineOf = (key: string): number => checked.positionOf([key], "value").line;
  if (front.id !== undefined && front.id !== id) {
    return refused(lineOf("id"), `is "${front.id}", and the file is called ${id}.md`, "id");
  }
  const owner = ownerOf(front, place);
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
      sources: front.sources ?? [],
      conflicts_with: front.conflicts_with ?? [],
      file,
    },
  };
}

export function entryText(entry: Omit<MemoryEntry, "file"> & MemoryOwner): string {
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

interface WrittenFront {
  readonly id?: string;
  readonly scope?: "user" | "project";
  readonly project?: string;
  readonly tags?: readonly string[];
  readonly created_at?: string;
  readonly sources?: readonly MemorySource[];
  readonly conflicts_with?: readonly string[];
}

/** Or what is wrong with it. */
function ownerOf({ scope, project }: WrittenFront, { owner }: EntryPlace): MemoryOwner | string {
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

const day: FieldCheck = (value, path, report) => {
  const isTime = typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value);
  if (isTime && !Number.isNaN(Date.parse(value))) return;
  report(path, `is ${kindOf(value)}; a day or a time such as 2026-01-31 is expected`);
};

const tag: FieldCheck = (value, path, report) => {
  tagText(value, path, report);
  if (typeof value === "string" && value !== "" && !TAG.test(value)) {
    report(path, 'is no tag: letters, digits, "_", "-" and "."');
  }
};
const tagText = textUpTo(MEMORY_LIMITS.tagChars);

const sourceText = textUpTo(200);

const source = mapping("a source", {
  session_id: sourceText,
  run_id: sourceText,
  tool_call_id: sourceText,
  candidate_id: sourceText,
});

function listUpTo(what: string, item: FieldCheck, most: number): FieldCheck {
  const list = listOf(what, item);
  return (value, path, report) => {
    list(value, path, report);
    if (Array.isArray(value) && value.length > most) {
      report(path, `has ${value.length} entries; ${most} are the most`);
    }
  };
}

const checkFrontMatter = mapping("a memory", {
  id: text,
  scope: oneOf(["user", "project"]),
  project: textUpTo(4_096),
  tags: listUpTo("tags", tag, MEMORY_LIMITS.tags),
  created_at: day,
  sources: listUpTo("sources", source, MEMORY_LIMITS.sources),
  conflicts_with: listUpTo("ids of memories", textUpTo(64), MEMORY_LIMITS.conflicts),
});
