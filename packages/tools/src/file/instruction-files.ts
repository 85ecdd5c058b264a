// The instruction files a session begins with (INSTR-2): one of the user, one of the project, read through the file
// boundary. A project's is somebody else's file: it may not lead out of the project, nor to what is sensitive, and
// whatever stands there instead of a text is passed over, with the reason.

import { join } from "node:path";
import { compileSensitivePaths, messageOf, type Places } from "@soong/core";
import { isWithin } from "@soong/core/internal";
import { judgedPath, openRegularFile, resolvePath, type VerifiedFile } from "../path/index.ts";
import {
  INSTRUCTION_FILES,
  INSTRUCTION_LIMIT_BYTES,
  readInstructionText,
} from "./instruction-text.ts";

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

export interface InstructionFile {
  readonly origin: "user" | "project";
  readonly path: string;
  readonly text: string;
  readonly bytes: number;
  readonly cut: boolean;
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
    // Stricter where the disk tells cases apart, and such a name is hardly an accident.
    caseInsensitive: true,
    project,
    home: options.home,
  });

  return async (redact, places) => {
    const found = [
      ...(user === undefined ? [] : [await look("user", user, redact, places)]),
      ...(project === undefined ? [] : [await look("project", project, redact, places)]),
    ];
    return {
      files: found.flatMap((one) => (one !== undefined && "text" in one ? [one] : [])),
      skipped: found.flatMap((one) => (one !== undefined && "why" in one ? [one] : [])),
    };
  };

  async function look(
    origin: InstructionFile["origin"],
    directory: string,
    redact: (text: string) => string,
    places: ReadingPlaces | undefined,
  ): Promise<InstructionFile | SkippedInstructionFile | undefined> {
    for (const name of INSTRUCTION_FILES) {
      const path = join(directory, name);
      try {
        const canonical = await resolvePath(directory, name);
        const refused =
          (origin === "project" ? await outOfBounds(directory, canonical) : undefined) ??
          (places === undefined ? undefined : await restrictionAt(directory, name, places));
        if (refused !== undefined) return { origin, path, why: refused };
        const read = await readFrom(canonical, redact);
        if (read === undefined) continue;
        return typeof read === "string"
          ? { origin, path: canonical, why: read }
          : { origin, path: canonical, ...read };
      } catch (error) {
        return { origin, path, why: messageOf(error) };
      }
    }
    return undefined;
  }

  async function readFrom(path: string, redact: (text: string) => string) {
    let file: VerifiedFile | undefined;
    try {
      file = await openRegularFile(path);
      return await readInstructionText(file, limitBytes, redact);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    } finally {
      await file?.close();
    }
  }

  async function outOfBounds(directory: string, path: string): Promise<string | undefined> {
    const root = await resolvePath("/", directory);
    if (!isWithin(root, path)) return `it leads out of the project, to ${JSON.stringify(path)}`;
    const pattern = sensitiveBy(path);
    return pattern === undefined ? undefined : `it leads to a sensitive file (${pattern})`;
  }
}

/** No call is judged here and nobody is asked: what a rule asks about is as closed as what it denies. */
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

function isNotFound(error: unknown): boolean {
  return (error as { error?: { code?: unknown } } | null)?.error?.code === "file_not_found";
}
