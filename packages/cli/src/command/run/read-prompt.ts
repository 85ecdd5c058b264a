// The prompt of a run: its words, and what is piped in. Text on stdin belongs below the words; without words it is the
// prompt.

import { fstatSync } from "node:fs";
import { visibleLine } from "../../output/index.ts";
import type { CommandContext } from "../handler.ts";
import { readStdin } from "../tools/tool-input.ts";

export interface ReadPromptOptions {
  /** There is something to do without a prompt: stdin is not waited for as if it had to bring one. */
  readonly isOptional?: boolean;
}

/** Undefined: there is none. `given`: undefined or `-` for stdin alone. */
export async function readPrompt(
  context: CommandContext,
  given: string | undefined,
  { isOptional = false }: ReadPromptOptions = {},
): Promise<string | undefined> {
  const words = given === "-" ? "" : (given ?? "");
  const isNeeded = words.trim() === "" && !isOptional;
  const piped = isNeeded ? await readNeeded(context) : await readPiped(context);
  const text = [words, piped].filter((part) => part.trim() !== "");
  if (text.length < 2) return text[0];
  return `${words}\n\n<stdin>\n${piped.replace(/\n$/, "")}\n</stdin>`;
}

/** What a session is called by: the words alone. */
export function titleOf(given: string | undefined, prompt: string | undefined): string {
  const words = given === undefined || given === "-" ? (prompt ?? "") : given;
  return visibleLine(words.trim()).slice(0, LONGEST_TITLE);
}

const LONGEST_TITLE = 80;

async function readNeeded(context: CommandContext): Promise<string> {
  return context.stdin.isTTY ? "" : readStdin(context);
}

/**
 * A pipe of a shell is read to its end, however slow what writes it is. A socket, which programs leave open behind those
 * they start, is only read where something comes.
 */
async function readPiped(context: CommandContext): Promise<string> {
  const { stdin, output } = context;
  if (stdin.isTTY) return "";
  if (isSocket(stdin)) return (await hasInput(stdin)) ? readStdin(context) : "";
  const slow = setTimeout(() => output.note(READING, "dim"), SLOW_MS);
  try {
    return await readStdin(context);
  } finally {
    clearTimeout(slow);
  }
}

const READING = "Reading stdin, which belongs to the prompt; `< /dev/null` skips it.";
const SLOW_MS = 3000;

function isSocket(stdin: NodeJS.ReadStream): boolean {
  try {
    return fstatSync((stdin as Partial<{ fd: number }>).fd ?? 0).isSocket();
  } catch {
    return false;
  }
}

function hasInput(stdin: NodeJS.ReadStream): Promise<boolean> {
  if (stdin.readableEnded || stdin.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const came = (): void => end(true);
    const silent = setTimeout(() => {
      end(false);
      // It would keep the process alive.
      stdin.destroy();
    }, SLOW_MS);
    stdin.once("readable", came);
    stdin.once("error", came);

    function end(has: boolean): void {
      clearTimeout(silent);
      stdin.off("readable", came).off("error", came);
      resolve(has);
    }
  });
}
