// What has to be true of the files beside the database once a session was opened again: artifacts and rows
// belong together one by one, and each run folder is what it would be if it were written anew.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { openStore, type Store } from "@soong/store";

/** Of every session of the store: no one may be working there, and each was opened since its crash. */
export async function checkArtifacts(home: string): Promise<void> {
  const store = await openStore({ directory: home, readOnly: true });
  try {
    await compareArtifacts(store, home);
  } finally {
    await store.close();
  }
}

async function compareArtifacts(store: Store, home: string): Promise<void> {
  const rows: string[] = [];
  for (const { session_id } of await store.sessions({ limit: 1000 })) {
    const reader = await store.readSession(session_id);
    for (const { artifact_id } of await reader.artifacts()) rows.push(artifact_id);
  }
  const files = filesBelow(join(home, "artifacts")).map((path) => basename(path));
  assert.deepEqual(files.toSorted(), rows.toSorted(), "artifact files and rows");
}

export async function checkRunFolders(
  store: Store,
  home: string,
  session_id: string,
): Promise<void> {
  const reader = await store.readSession(session_id);
  for (const { run_id } of await reader.runs()) {
    const folder = join(home, "runs", run_id);
    const asItGrew = readRunFolder(folder);
    assert.equal(await store.rebuildRunFolder(run_id), folder);
    assert.deepEqual(asItGrew, readRunFolder(folder), `the folder of run ${run_id}`);
    const facts = await reader.facts({ run_id });
    assert.equal(asItGrew["events.jsonl"]?.split("\n").length, facts.length + 1);
  }
}

function readRunFolder(folder: string): Record<string, string> {
  const files = filesBelow(folder).filter((path) => path.endsWith(".jsonl"));
  return Object.fromEntries(
    files.map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8")]),
  );
}

export function filesBelow(folder: string): string[] {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}
