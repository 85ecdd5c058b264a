// Which run folders of this home were made for a store that machines share. A session may be removed on any of them, and only
// here it is known that its folders are here, and of that store: another one, such as the SQLite of the time before, may have
// a session of the same id.

import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { folderName } from "./open-folder.ts";

export interface OwnFolders {
  /** It was made just now, for a run of that session. */
  note(session_id: string, run_id: string): void;
  /** `findGone`: those of these sessions that were removed. Never throws: what stays goes the next time. */
  sweep(
    findGone: (session_ids: readonly string[]) => Promise<readonly string[]>,
    remove: (run_id: string) => void,
  ): Promise<void>;
}

/** So many sessions at a time, beginning anywhere: all of them have their turn. */
const MOST = 500;

export function openOwnFolders(directory: string): OwnFolders {
  return {
    note(session_id, run_id) {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const line = `${JSON.stringify({ session_id, run_id })}\n`;
      appendFileSync(fileOf(session_id), line, { mode: 0o600 });
    },
    async sweep(findGone, remove) {
      try {
        const runs = readNoted(directory);
        const gone = runs.size === 0 ? [] : await findGone([...runs.keys()]);
        for (const session_id of gone) {
          for (const run_id of runs.get(session_id) ?? []) remove(run_id);
          rmSync(fileOf(session_id), { force: true });
        }
      } catch {
        // A folder that cannot be removed, or a database that is away.
      }
    },
  };

  function fileOf(session_id: string): string {
    return join(directory, `${folderName(session_id)}.jsonl`);
  }
}

/** The runs of each session. */
function readNoted(directory: string): Map<string, readonly string[]> {
  const names = listNames(directory);
  const from = names.length > MOST ? Math.floor(Math.random() * names.length) : 0;
  const noted = [...names.slice(from), ...names.slice(0, from)].slice(0, MOST).map((name) => {
    const lines = readFileSync(join(directory, name), "utf8").split("\n");
    return lines.flatMap(readLine);
  });
  return new Map(
    noted.flatMap((lines) => {
      const [first] = lines;
      return first === undefined ? [] : [[first.session_id, lines.map(({ run_id }) => run_id)]];
    }),
  );
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".jsonl"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** One that a full disk or a crash has cut says nothing. */
function readLine(line: string): { readonly session_id: string; readonly run_id: string }[] {
  try {
    const { session_id, run_id } = JSON.parse(line) as Record<string, unknown>;
    return typeof session_id === "string" && typeof run_id === "string"
      ? [{ session_id, run_id }]
      : [];
  } catch {
    return [];
  }
}
