// Commands of the user's own: `commands/NAME.md` in the home is `/NAME`, and its text is the prompt. Folders of projects
// are never looked into. Front matter may give a `description` and an `argument-hint`; both are only shown.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@soong/core";
import { describeProblem, parseDocument, readBoundedFile } from "@soong/platform";

export interface OwnCommand {
  readonly name: string;
  readonly description: string;
  /** Such as `[branch]`. */
  readonly hint: string;
  readonly text: string;
}

export interface OwnCommands {
  readonly commands: readonly OwnCommand[];
  /** A sentence for each file that cannot be used. */
  readonly problems: readonly string[];
}

const MOST_COMMANDS = 200;
const LARGEST_FILE = 64 * 1024;
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i;

/** Read anew each time: a command can be written while the conversation is open. */
export async function loadOwnCommands(folder: string): Promise<OwnCommands> {
  const commands: OwnCommand[] = [];
  const problems: string[] = [];
  for (const file of (await listFiles(folder, problems)).slice(0, MOST_COMMANDS)) {
    const read = await readCommand(join(folder, file), file.slice(0, -".md".length));
    if (typeof read === "string") problems.push(`${join(folder, file)} ${read}`);
    else commands.push(read);
  }
  return { commands, problems };
}

async function listFiles(folder: string, problems: string[]): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(".md")).toSorted();
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== "ENOENT") problems.push(`${folder} cannot be read: ${messageOf(error)}`);
    return [];
  }
}

/** What is wrong with it, as a clause about the file. */
async function readCommand(file: string, name: string): Promise<OwnCommand | string> {
  if (!NAME.test(name)) return "is no name for a command: letters, digits, - and _ are";
  try {
    const read = await readBoundedFile(file, LARGEST_FILE);
    if (read.kind !== "file") return `is no text file of at most ${LARGEST_FILE} bytes`;
    const source = new TextDecoder("utf-8", { fatal: true }).decode(read.bytes);
    const [, yaml, body] = FRONT_MATTER.exec(source) ?? [undefined, undefined, source];
    const text = (body ?? "").trim();
    if (text === "") return "has no text, which would be the prompt";
    const about = yaml === undefined ? {} : readFrontMatter(yaml, file);
    if (typeof about === "string") return about;
    const description = readText(about["description"]) ?? text.split("\n")[0] ?? "";
    return { name, description, hint: readText(about["argument-hint"]) ?? "", text };
  } catch (error) {
    return `cannot be read: ${messageOf(error)}`;
  }
}

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n(.*))?$/ms;

/** Keys of other agents, such as `allowed-tools`, mean nothing here and grant nothing. */
function readFrontMatter(yaml: string, file: string): Readonly<Record<string, unknown>> | string {
  const parsed = parseDocument(`\n${yaml}`, file, "yaml");
  if (!parsed.ok)
    return `has front matter with a mistake: ${parsed.problems.map(describeProblem).join("; ")}`;
  const { value } = parsed.document;
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** `$ARGUMENTS` is all that was typed behind the name, `$1` to `$9` its words; without either it is added below. */
export function fillCommand(text: string, given: string): string {
  if (!PLACEHOLDER.test(text)) return given === "" ? text : `${text}\n\n${given}`;
  const words = [...given.matchAll(WORD)].map(([all, a, b]) => a ?? b ?? all);
  // A function: what was typed is no pattern.
  return text.replaceAll(new RegExp(PLACEHOLDER, "g"), (_, digit: string | undefined) =>
    digit === undefined ? given : (words[Number(digit) - 1] ?? ""),
  );
}

/** Words, not a command line: an apostrophe is only that. */
const WORD = /"([^"]*)"(?!\S)|'([^']*)'(?!\S)|\S+/g;
const PLACEHOLDER = /\$(?:ARGUMENTS\b|([1-9])(?!\d))/;
