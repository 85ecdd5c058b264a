// What becomes of a text beside the memories there are: the same thing said again is merged, something else said about
// the same thing is kept beside it with a note of both, anything else is new. Pure.

import {
  makeMemoryId,
  MEMORY_LIMITS,
  normalizeWords,
  type MemoryEntry,
  type MemoryOwner,
  type MemorySource,
} from "./memory-entry.ts";

export interface MemoryDraft {
  readonly owner: MemoryOwner;
  readonly content: string;
  readonly tags: readonly string[];
  readonly created_at: string;
  /** Absent for one that the user wrote. */
  readonly source?: MemorySource;
}

type PlannedEntry = Omit<MemoryEntry, "file"> & MemoryOwner;

export type MemoryPlan =
  | { readonly kind: "new"; readonly entry: PlannedEntry }
  | { readonly kind: "merge"; readonly into: MemoryEntry; readonly entry: PlannedEntry }
  | { readonly kind: "full" };

/** How much of their words two texts share before they are about the same thing. */
const ABOUT_THE_SAME = 0.5;

/** `there`: all memories of the owner. */
export function planMemory(draft: MemoryDraft, there: readonly MemoryEntry[]): MemoryPlan {
  const { owner, content, tags, created_at, source } = draft;
  const same = normalizeWords(content);
  const into = there.find((entry) => readWords(entry).same === same);
  if (into !== undefined) return { kind: "merge", into, entry: mergeEntry(into, draft) };
  if (there.length >= MEMORY_LIMITS.entriesOfOwner) return { kind: "full" };
  const words = splitWords(same);
  const others = there.filter(
    (entry) => measureOverlap(words, readWords(entry).words) >= ABOUT_THE_SAME,
  );
  const entry = {
    ...owner,
    id: makeMemoryId(owner, content),
    content,
    tags,
    created_at,
    sources: source === undefined ? [] : [source],
    conflicts_with: others.slice(0, MEMORY_LIMITS.conflicts).map(({ id }) => id),
  };
  return { kind: "new", entry };
}

function mergeEntry(into: MemoryEntry, { tags, source }: MemoryDraft): PlannedEntry {
  const { file: _file, ...entry } = into;
  const isKnown =
    source === undefined ||
    entry.sources.some(({ candidate_id }) => candidate_id === source.candidate_id);
  return {
    ...entry,
    tags: [...new Set([...entry.tags, ...tags])].slice(0, MEMORY_LIMITS.tags),
    sources: isKnown ? entry.sources : [...entry.sources, source].slice(-MEMORY_LIMITS.sources),
  };
}

interface ReadWords {
  readonly same: string;
  readonly words: Set<string>;
}

/** A job holds each candidate against the same memories. */
const knownWords = new WeakMap<MemoryEntry, ReadWords>();

function readWords(entry: MemoryEntry): ReadWords {
  const known = knownWords.get(entry);
  if (known !== undefined) return known;
  const same = normalizeWords(entry.content);
  const read = { same, words: splitWords(same) };
  knownWords.set(entry, read);
  return read;
}

/** The share of their words that two texts have in common, from 0 to 1. */
function measureOverlap(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  if (left.size === 0 || right.size === 0) return 0;
  let common = 0;
  for (const word of left) if (right.has(word)) common += 1;
  return common / (left.size + right.size - common);
}

const cut = new Intl.Segmenter("en", { granularity: "word" });
const SMALL = new Set(
  "a an and are as at be by for from in is it its of on or that the this to was with".split(" "),
);

/** Of a text as `sameWords` leaves it. */
function splitWords(text: string): Set<string> {
  const words = new Set<string>();
  for (const { segment, isWordLike } of cut.segment(text)) {
    if (isWordLike === true && !SMALL.has(segment)) words.add(segment);
  }
  return words;
}
