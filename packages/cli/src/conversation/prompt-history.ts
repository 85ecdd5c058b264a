// What was typed before, over conversations: a file of the home that only its user reads, bounded, without secrets.

import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createRedactor, messageOf, type KnownSecret } from "@soong/core";
import { readBoundedFile, writeWholeFile } from "@soong/platform";

export type PromptHistory = Awaited<ReturnType<typeof openPromptHistory>>;

const MOST_ENTRIES = 500;
/** A longer one is a document, and no one looks for it with the arrows. */
const LONGEST_ENTRY = 8192;
/** More than this was not written here. */
const LARGEST_FILE = 4 * MOST_ENTRIES * LONGEST_ENTRY;

export async function openPromptHistory(home: string, secrets: readonly KnownSecret[]) {
  const file = join(home, "prompts.jsonl");
  const redactor = createRedactor({ secrets });
  const found = await readEntries(file);
  const entries = found.slice(-MOST_ENTRIES);
  let isBroken = false;
  if (found.length > 2 * MOST_ENTRIES)
    await attempt(() => writeWholeFile(file, entries.map(encodeEntry).join("")));

  return {
    /** Oldest first. */
    entries: entries as readonly string[],
    /** Answers with what went wrong, once: a conversation continues without it. */
    async add(given: string): Promise<string | undefined> {
      const text = redactor.text(given);
      if (text.length > LONGEST_ENTRY || text === entries.at(-1)) return undefined;
      entries.push(text);
      if (entries.length > MOST_ENTRIES) entries.shift();
      if (isBroken) return undefined;
      return attempt(async () => {
        await mkdir(home, { recursive: true, mode: 0o700 });
        await appendFile(file, encodeEntry(text), { mode: 0o600 });
      });
    },
  };

  async function attempt(write: () => Promise<void>): Promise<string | undefined> {
    try {
      await write();
      return undefined;
    } catch (error) {
      isBroken = true;
      return `Prompts are not kept for the arrow keys: ${messageOf(error)}`;
    }
  }
}

/** Lines that are not ours are passed over. */
async function readEntries(file: string): Promise<string[]> {
  try {
    const read = await readBoundedFile(file, LARGEST_FILE);
    return read.kind === "file" ? read.bytes.toString("utf8").split("\n").flatMap(readEntry) : [];
  } catch {
    return [];
  }
}

function readEntry(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "string" && entry !== "" && entry.length <= LONGEST_ENTRY
      ? [entry]
      : [];
  } catch {
    return [];
  }
}

function encodeEntry(text: string): string {
  return `${JSON.stringify(text)}\n`;
}
