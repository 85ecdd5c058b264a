// What the calls of the crash test change outside, so that it can be seen afterwards how often each happened:
// a call's id is in its effect.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** One line for each call that happened; written by commands and by handlers. */
export const LEDGER = "ledger.txt";
/** Changed by edits: a line for each. */
export const NOTES = "notes.md";
export const NOTES_END = "the end";
/** Written whole, one file for each call. */
export const WRITTEN = "written";

const HEAD = "# Notes";

export async function makeProject(project: string): Promise<void> {
  await mkdir(join(project, "src"), { recursive: true });
  await writeFile(join(project, "src", "one.ts"), "export const one = 1;\n".repeat(40));
  await writeFile(join(project, "src", "two.ts"), "export const two = 2; // needle\n".repeat(40));
  await writeFile(join(project, NOTES), `${HEAD}\n${NOTES_END}\n`);
}

/** Long enough to be written in more than one piece, if anyone did that. */
export function contentOf(id: string): string {
  return `${id} `.repeat(2000);
}

/** How often each call happened. Throws on a file that is neither as before nor as after. */
export function effectsIn(project: string): Map<string, number> {
  const effects = new Map<string, number>();
  const happened = (id: string): void => void effects.set(id, (effects.get(id) ?? 0) + 1);
  const ledger = join(project, LEDGER);
  if (existsSync(ledger)) {
    for (const line of readFileSync(ledger, "utf8").split("\n")) if (line !== "") happened(line);
  }
  const notes = readFileSync(join(project, NOTES), "utf8").split("\n");
  if (notes[0] !== HEAD || notes.at(-2) !== NOTES_END || notes.at(-1) !== "") {
    throw new Error(`${NOTES} is not whole: ${JSON.stringify(notes)}`);
  }
  for (const id of notes.slice(1, -2)) happened(id);
  const written = join(project, WRITTEN);
  for (const name of existsSync(written) ? readdirSync(written) : []) {
    // What a killed write leaves beside the file is no file of that name.
    if (!name.endsWith(".txt") || name.startsWith(".")) continue;
    const id = name.slice(0, -".txt".length);
    if (readFileSync(join(written, name), "utf8") !== contentOf(id)) {
      throw new Error(`${name} is not whole`);
    }
    happened(id);
  }
  return effects;
}
