// The body of an instruction file (INSTR-1, INSTR-2), AGENTS.md or CLAUDE.md: as much of an open file as a system
// block may hold. Whoever reads one for the model and whoever loads one for a session read it here, alike.

import { basename } from "node:path";
import type { VerifiedFile } from "../path/index.ts";
import { cutToBytes, decodeText, detectFormat } from "../text/index.ts";

/** In this order: the second is looked at where the first is not there. */
export const INSTRUCTION_FILES = ["AGENTS.md", "CLAUDE.md"] as const;

export const INSTRUCTION_LIMIT_BYTES = 32 * 1024;

export interface InstructionText {
  /** In UTF-8 no longer than the limit. */
  readonly text: string;
  /** Of the file. */
  readonly bytes: number;
  /** The text is not all of it. */
  readonly cut: boolean;
}

export function isInstructionFile(path: string): boolean {
  return (INSTRUCTION_FILES as readonly string[]).includes(basename(path));
}

/** Why there is nothing to register, in words, where there is not. */
export async function readInstructionText(
  { handle, size }: VerifiedFile,
  limitBytes: number,
  redact: (text: string) => string,
): Promise<InstructionText | "it is empty" | "it is no text"> {
  // A secret across the cut is only recognised whole.
  const buffer = Buffer.alloc(Math.min(size, limitBytes + LONGEST_SECRET_BYTES));
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  const bytes = buffer.subarray(0, length);
  const isWhole = length >= size;
  const format = detectFormat(bytes, isWhole);
  if (format.encoding === "binary") return "it is no text";
  const decoded = decodeText(bytes, format);
  const clean = redact(isWhole ? decoded : withoutHalf(decoded));
  if (clean.trim() === "") return "it is empty";
  const text = cutToBytes(clean, limitBytes);
  return { text, bytes: size, cut: !isWhole || text.length < clean.length };
}

const LONGEST_SECRET_BYTES = 8 * 1024;

/** The character the last byte belongs to may not be all there. */
function withoutHalf(text: string): string {
  return text.endsWith("\uFFFD") ? text.slice(0, -1) : text;
}
