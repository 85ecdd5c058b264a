// One memory: a few sentences worth knowing in later work, about the user or about one project, and where they came from.

import { createHash } from "node:crypto";

export type MemoryScope = "user" | "project";

/** Whose memories: a project is known by its canonical path. */
export type MemoryOwner =
  | { readonly scope: "user" }
  | { readonly scope: "project"; readonly project: string };

export type MemoryEntry = MemoryOwner & {
  /** The name of its file, too. */
  readonly id: string;
  readonly content: string;
  readonly tags: readonly string[];
  /** ISO 8601. */
  readonly created_at: string;
  /** Empty for one that a user wrote. */
  readonly sources: readonly MemorySource[];
  /** Ids of memories it says something else than. */
  readonly conflicts_with: readonly string[];
  readonly file: string;
};

/** What an agent wants to be remembered. */
export interface MemoryNote {
  readonly content: string;
  readonly tags: readonly string[];
  readonly owner: MemoryOwner;
}

/** The call that asked for it. */
export interface MemorySource {
  readonly session_id: string;
  readonly run_id: string;
  readonly tool_call_id: string;
  readonly candidate_id: string;
}

export const MEMORY_LIMITS = {
  contentChars: 4_000,
  tags: 8,
  tagChars: 40,
  sources: 20,
  conflicts: 10,
  entriesOfOwner: 2_000,
  fileBytes: 32 * 1024,
} as const;

const ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function isMemoryId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/** Of the content and whose it is: the same thing said again has the same id. */
export function makeMemoryId(owner: MemoryOwner, content: string): string {
  const whose = owner.scope === "user" ? "" : owner.project;
  const parts = JSON.stringify([owner.scope, whose, normalizeWords(content)]);
  return `m-${sha256(parts).slice(0, 20)}`;
}

/** Equal for texts that differ in case, white space or the last full stop only. */
export function normalizeWords(content: string): string {
  return content
    .normalize("NFC")
    .toLowerCase()
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[.!]+$/, "");
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export const TAG = /^[\p{L}\p{N}][\p{L}\p{N}_.-]*$/u;
