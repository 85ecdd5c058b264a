// What was done to long-term memory, a line each, in `log.jsonl` beside it. The job has no session, so these lines are its
// facts; they also say which candidates are done.

import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@soong/core";

interface MemoryLine {
  readonly type:
    | "memory.written"
    | "memory.merged"
    | "memory.refused"
    | "memory.discarded"
    | "memory.forgotten";
  readonly time: string;
  readonly candidate_id?: string;
  readonly [key: string]: JsonObject[string] | undefined;
}

export type MemoryLog = Awaited<ReturnType<typeof openMemoryLog>>;

const LOG = "log.jsonl";

/** Call it while the memory is locked. A line that cannot be read is passed over. */
export async function openMemoryLog(root: string) {
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
    /** Whether a candidate has become memory already, or the user has said no to it. */
    isDone: (candidate_id: string) => done.has(candidate_id),
    /** Whether it was refused before, for the same reason. */
    isRefused: (path: string, why: string) => refused.has(JSON.stringify([path, why])),
    async add(line: MemoryLine): Promise<void> {
      await file.appendFile(`${isTorn ? "\n" : ""}${JSON.stringify(line)}\n`);
      isTorn = false;
      note(line);
    },
    async close(): Promise<void> {
      await file.sync();
      await file.close();
    },
  };

  function note({ type, candidate_id, file: path, why }: Partial<MemoryLine>): void {
    if (type !== "memory.refused" && candidate_id !== undefined) done.add(candidate_id);
    if (type === "memory.refused") refused.add(JSON.stringify([path, why]));
  }
}

function parseLogLine(line: string): Partial<MemoryLine> {
  try {
    return (JSON.parse(line) as Partial<MemoryLine> | null) ?? {};
  } catch {
    return {};
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
