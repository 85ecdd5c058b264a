// The instruction files a session begins with (INSTR-2): one of the user, one of the project, read through the file
// boundary. A project's is someone else's file: it may not lead out of the project, nor to what is sensitive, and
// anything else in their place is skipped, with the reason.

import { basename, join } from "node:path";
import { compileSensitivePaths, messageOf, type Places, type ToolFailure } from "@soong/core";
import { isWithin } from "@soong/core/internal";
import { readFully } from "@soong/platform";
import { judgedPath, openRegularFile, resolvePath, type VerifiedFile } from "../path/index.ts";
import { cutToBytes, decodeText, detectFormat } from "../text/text-format.ts";

export interface InstructionFilesOptions {
  /** The project's directory; its file is looked for there, and in no directory above. */
  readonly project?: string;
  /** The user's own directory, `${SOONG_AGENT_HOME}`; a link in it may lead anywhere. */
  readonly user?: string;
  /** Of each file. */
  readonly limitBytes?: number;
  /** The user's patterns beside the built-in ones (PATH-3), and the home they may begin with. */
  readonly sensitivePaths?: readonly string[];
  readonly home?: string;
}

export interface InstructionText {
  /** In UTF-8 no longer than the limit. */
  readonly text: string;
  /** Of the file. */
  readonly bytes: number;
  /** The text is not all of it. */
  readonly cut: boolean;
}

export interface InstructionFile extends InstructionText {
  readonly origin: "user" | "project";
  readonly path: string;
}

export interface SkippedInstructionFile {
  readonly origin: "user" | "project";
  readonly path: string;
  readonly why: string;
}

export interface InstructionFiles {
  readonly files: readonly InstructionFile[];
  readonly skipped: readonly SkippedInstructionFile[];
}

/** To be called with what hides secrets, and with what restricts the run; never rejects. */
export type LoadInstructionFiles = (
  redact: (text: string) => string,
  places?: ReadingPlaces,
) => Promise<InstructionFiles>;

type ReadingPlaces = Pick<Places, "restrictedBy" | "restrictedGlobs">;

export function instructionFiles(options: InstructionFilesOptions): LoadInstructionFiles {
  const { project, user, limitBytes = INSTRUCTION_LIMIT_BYTES, sensitivePaths = [] } = options;
  const sensitiveBy = compileSensitivePaths({
    extra: sensitivePaths,
    // Stricter where the disk is case-sensitive, and such a name is hardly an accident.
    caseInsensitive: true,
    project,
    home: options.home,
  });

  return async (redact, places) => {
    const files: InstructionFile[] = [];
    const skipped: SkippedInstructionFile[] = [];
    for (const [origin, directory] of [["user", user] as const, ["project", project] as const]) {
      if (directory === undefined) continue;
      const found = await look(origin, directory, redact, places);
      if (found !== undefined && "text" in found) files.push(found);
      else if (found !== undefined) skipped.push(found);
    }
    return { files, skipped };
  };

  async function look(
    origin: InstructionFile["origin"],
    directory: string,
    redact: (text: string) => string,
    places: ReadingPlaces | undefined,
  ): Promise<InstructionFile | SkippedInstructionFile | undefined> {
    for (const name of INSTRUCTION_FILES) {
      const path = join(directory, name);
      let file: VerifiedFile | undefined;
      try {
        const canonical = await resolvePath(directory, name);
        const refused =
          (origin === "project" ? await outOfBounds(directory, canonical) : undefined) ??
          (places === undefined ? undefined : await restrictionAt(directory, name, places));
        if (refused !== undefined) return { origin, path, why: refused };
        file = await openRegularFile(canonical);
        const read = await readInstructionText(file, limitBytes, redact);
        return { origin, path: canonical, ...(typeof read === "string" ? { why: read } : read) };
      } catch (error) {
        if ((error as ToolFailure).error?.code !== "file_not_found")
          return { origin, path, why: messageOf(error) };
      } finally {
        await file?.close();
      }
    }
    return undefined;
  }

  async function outOfBounds(directory: string, path: string): Promise<string | undefined> {
    const root = await resolvePath("/", directory);
    if (!isWithin(root, path)) return `it leads out of the project, to ${JSON.stringify(path)}`;
    const pattern = sensitiveBy(path);
    return pattern === undefined ? undefined : `it leads to a sensitive file (${pattern})`;
  }
}

/** No call is judged here and no one is asked: what a rule asks about is as closed as what it denies. */
async function restrictionAt(
  directory: string,
  name: string,
  places: ReadingPlaces,
): Promise<string | undefined> {
  const roots = { project: directory, write: [] };
  const { path, also = [], ignores_case } = await judgedPath("read", name, { ...places, roots });
  const found = [path, ...also]
    .map((one) => places.restrictedBy(one, "read", ignores_case))
    .find((restriction) => restriction !== undefined && restriction.kind !== "sensitive");
  if (found === undefined) return undefined;
  const by = found.kind === "hook" ? `the hook ${JSON.stringify(found.by)}` : found.by;
  return `${by} restricts reading it`;
}

/** In this order: the second is looked at where the first is not there. */
export const INSTRUCTION_FILES = ["AGENTS.md", "CLAUDE.md"] as const;

export const INSTRUCTION_LIMIT_BYTES = 32 * 1024;

export function isInstructionFile(path: string): boolean {
  return (INSTRUCTION_FILES as readonly string[]).includes(basename(path));
}

/**
 * As much of an open file as a system block may hold. Used both to read one for the model and to load one for a
 * session. Why there is nothing to register, in words, where there is not.
 */
export async function readInstructionText(
  { handle, size }: VerifiedFile,
  limitBytes: number,
  redact: (text: string) => string,
): Promise<InstructionText | "it is empty" | "it is not text"> {
  // A secret across the cut is only recognised whole.
  const room = Buffer.alloc(Math.min(size, limitBytes + LONGEST_SECRET_BYTES));
  const bytes = await readFully(handle, room, 0);
  const isWhole = bytes.length >= size;
  const format = detectFormat(bytes, isWhole);
  if (format.encoding === "binary") return "it is not text";
  const decoded = decodeText(bytes, format);
  // The character the last byte belongs to may not be all there.
  const clean = redact(isWhole ? decoded : decoded.replace(/\ufffd$/, ""));
  if (clean.trim() === "") return "it is empty";
  const text = cutToBytes(clean, limitBytes);
  return { text, bytes: size, cut: !isWhole || text.length < clean.length };
}

const LONGEST_SECRET_BYTES = 8 * 1024;
