// Files of other programs, read within bounds. One that cannot be read is named and costs itself alone; one that is not
// there is nothing.

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { describeProblem, parseDocument, readBoundedFile, readErrno } from "@soong/platform";
import { isRecord } from "@soong/schema";
import type { Found, FoundText } from "./found.ts";

const MAX_BYTES = 1024 * 1024;
const MOST_FILES = 500;

export type Table = Readonly<Record<string, unknown>>;

/** Empty where there is no such file. */
export async function readTable(
  file: string,
  format: "jsonc" | "toml",
  found: Found,
): Promise<Table> {
  const text = await readText(file, found);
  if (text === undefined || text.trim() === "") return {};
  const parsed = parseDocument(text, file, format);
  if (!parsed.ok) {
    const why = parsed.problems.slice(0, 3).map(describeProblem).join("; ");
    found.unmapped.push({ what: basename(file), why: `cannot be read: ${why}`, from: file });
    return {};
  }
  return asTable(parsed.document.value);
}

export async function readText(file: string, found: Found): Promise<string | undefined> {
  if (!existsSync(file)) return undefined;
  const refuse = (why: string): undefined =>
    void found.unmapped.push({ what: basename(file), why, from: file });
  const read = await readBoundedFile(file, MAX_BYTES).catch(() => undefined);
  if (read === undefined) return refuse("cannot be read");
  if (read.kind !== "file") return refuse(`is not a file of at most ${MAX_BYTES} bytes`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(read.bytes);
  } catch {
    return refuse("is not UTF-8 text");
  }
}

/** Files with this ending directly in these folders, by name without it. */
export async function readTexts(
  folders: readonly string[],
  ending: string,
  found: Found,
): Promise<FoundText[]> {
  const texts: FoundText[] = [];
  for (const folder of folders) {
    for (const entry of await listNames(folder)) {
      const from = join(folder, entry);
      if (extname(entry) !== ending) {
        const inside = await listNames(from);
        if (!inside.some((name) => extname(name) === ending)) continue;
        const why = "files in a folder have no counterpart here; move them out of it";
        found.unmapped.push({ what: `${basename(folder)}/${entry}/`, why, from });
        continue;
      }
      const text = await readText(from, found);
      if (text !== undefined) texts.push({ name: basename(entry, ending), text, from });
    }
  }
  return texts;
}

export async function findSkills(folders: readonly string[], found: Found): Promise<void> {
  for (const folder of folders) {
    for (const name of await listNames(folder)) {
      const from = join(folder, name);
      if (existsSync(join(from, "SKILL.md"))) found.skills.push({ name, from });
    }
  }
}

async function listNames(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => !name.startsWith("."))
      .toSorted()
      .slice(0, MOST_FILES);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(readErrno(error) ?? "")) return [];
    throw error;
  }
}

export function asTable(value: unknown): Table {
  return isRecord(value) ? value : {};
}

export function asTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** Markdown with front matter; values are written as JSON, which YAML reads. */
export function renderDocument(front: Table, body: string): string {
  const lines = Object.entries(front).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${JSON.stringify(value)}`],
  );
  return `---\n${lines.join("\n")}\n---\n\n${body.trim()}\n`;
}

/** Its front matter, empty where it cannot be read, and the text below. */
export function splitDocument({ text, from }: FoundText): {
  readonly front: Table;
  readonly body: string;
} {
  const [, yaml, body] = /^---\r?\n(.*?)\r?\n---\r?\n?(.*)$/s.exec(text) ?? [];
  if (yaml === undefined) return { front: {}, body: text };
  const parsed = parseDocument(yaml, from, "yaml");
  return { front: asTable(parsed.ok ? parsed.document.value : {}), body: body ?? "" };
}
