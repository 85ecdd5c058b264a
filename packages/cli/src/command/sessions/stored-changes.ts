// Changes of files that can be taken back (CODE-6), found in the journal: the newest first.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isTerminalFact } from "@soong/core";
import type { SessionReader, Store } from "@soong/store";
import { undoOf, type Undo } from "@soong/tools";
import { filterById } from "../match-id.ts";
import { iterateSessions } from "../stored.ts";

export interface StoredChange {
  readonly session_id: string;
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly run_id: string;
  readonly undo: Undo;
  readonly reader: SessionReader;
}

/** `call`: an id or a prefix of some. */
export async function* findStoredChanges(
  store: Store,
  wanted: { readonly session?: string; readonly call?: string },
  isWanted: (path: string) => boolean,
): AsyncGenerator<StoredChange> {
  for await (const session of iterateSessions(store)) {
    if (session.session_id !== (wanted.session ?? session.session_id)) continue;
    const reader = await store.readSession(session.session_id);
    const calls = await reader.calls();
    for (const { tool_call_id, tool_name, run_id, ended_seq } of calls.toReversed()) {
      const isMeant = wanted.call === undefined || isCallNamed(wanted.call, tool_call_id);
      if (ended_seq === undefined || !isMeant) continue;
      const undo = await readUndo(reader, ended_seq);
      if (undo === undefined || !isWanted(undo.path)) continue;
      const { session_id } = session;
      yield { session_id, tool_call_id, tool_name, run_id, undo, reader };
    }
  }
}

function isCallNamed(given: string, tool_call_id: string): boolean {
  return filterById(given, [tool_call_id], { kind: "call", id: (id) => id }).length > 0;
}

/** How the file is now, compared with what the call found and what it left. */
export async function compareWithDisk({
  undo,
  reader,
}: StoredChange): Promise<"as_left" | "as_before" | "other"> {
  const now = await hashFile(undo.path);
  if (now === undo.after_sha256) return "as_left";
  if (undo.pre_image === null) return now === undefined ? "as_before" : "other";
  const artifacts = await reader.artifacts();
  const before = artifacts.find(({ artifact_id }) => artifact_id === undo.pre_image);
  return before !== undefined && now === before.sha256 ? "as_before" : "other";
}

/**
 * The last change that has not been taken back. A file that is as some call of before found it was taken back
 * that far; one that is as no call found or left it was changed by someone else, and nothing is guessed.
 */
export async function findLastChange(
  changes: AsyncIterable<StoredChange>,
): Promise<StoredChange | undefined> {
  const puzzling = new Map<string, StoredChange>();
  const takenBack = new Set<string>();
  let last: StoredChange | undefined;
  for await (const change of changes) {
    const { path } = change.undo;
    const state = await compareWithDisk(change);
    if (state !== "other") {
      puzzling.delete(path);
      takenBack.add(path);
    } else if (last === undefined && !takenBack.has(path) && !puzzling.has(path)) {
      puzzling.set(path, change);
    }
    if (state === "as_left") last ??= change;
    if (last !== undefined && puzzling.size === 0) break;
  }
  const [unexplained] = puzzling.values();
  return unexplained ?? last;
}

async function readUndo(reader: SessionReader, seq: number): Promise<Undo | undefined> {
  const [fact] = await reader.facts({ after: seq - 1, limit: 1 });
  if (fact === undefined || !isTerminalFact(fact)) return undefined;
  return undoOf(fact.data.result);
}

/** Undefined where there is no file that can be read. */
async function hashFile(path: string): Promise<string | undefined> {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes && createHash("sha256").update(bytes).digest("hex");
}
