// What was done to long-term memory, a line each, in `log.jsonl` beside it. The job has no session, so these lines are its
// facts; they also say which candidates are done.

import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@soong/core";

export interface MemoryLine {
  readonly type: "memory.written" | "memory.merged" | "memory.refused" | "memory.forgotten";
  readonly time: string;
  readonly candidate_id?: string;
  readonly [key: string]: JsonObject[string] | undefined;
}

export interface MemoryLog {
  /** Whether a candidate has become memory already. */
  isDone(candidate_id: string): boolean;
  /** Whether it was refused before, for the same reason. */
  isRefused(file: string, why: string): boolean;
  add(line: MemoryLine): Promise<void>;
  close(): Promise<void>;
}

const LOG = "log.jsonl";

/** Call it while the memory is locked. A line that cannot be read is passed over. */
export async function openMemoryLog(root: string): Promise<MemoryLog> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
  const file = await open(join(root, LOG), flags, 0o600);
  const done = new Set<unknown>();
  const refused = new Set<string>();
  let isTorn = false;
  try {
    for await (const line of readLogLines(file)) {
      isTorn = !line.isWhole;
      note(parseLogLine(line.text));
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    isDone: (candidate_id) => done.has(candidate_id),
    isRefused: (path, why) => refused.has(JSON.stringify([path, why])),
    async add(line) {
      await file.appendFile(`${isTorn ? "\n" : ""}${JSON.stringify(line)}\n`);
      isTorn = false;
      note(line);
    },
    async close() {
      await file.sync();
      await file.close();
    },
  };

  function note(line: Partial<MemoryLine> | undefined): void {
    if (line === undefined) return;
    if (line.type === "memory.written" || line.type === "memory.merged")
      done.add(line.candidate_id);
    if (line.type === "memory.refused") refused.add(JSON.stringify([line["file"], line["why"]]));
  }
}

function parseLogLine(line: string): Partial<MemoryLine> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

async function* readLogLines(
  file: FileHandle,
): AsyncGenerator<{ readonly text: string; readonly isWhole: boolean }, undefined> {
  const decoder = new TextDecoder();
  const chunk = new Uint8Array(64 * 1024);
  let rest = "";
  for (let at = 0; ;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const lines = (rest + decoder.decode(chunk.subarray(0, bytesRead), { stream: true })).split(
      "\n",
    );
    rest = lines.pop() ?? "";
    for (const text of lines) yield { text, isWhole: true };
  }
  if (rest !== "") yield { text: rest, isWhole: false };
  return undefined;
}
