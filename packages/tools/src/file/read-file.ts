// code.read_file (CODE-1): some lines of a text file of any size, an image, or what kind of file it is.
// The tool bounds its own result: lines, bytes a line, bytes in all.

import { createHash } from "node:crypto";
import { fstatSync } from "node:fs";
import {
  type AnyTool,
  type HandlerResult,
  type InferOutput,
  type ToolContext,
  defineTool,
  toolResult,
} from "@soong/core";
import { isWithin } from "@soong/core/internal";
import {
  isFileNotFound,
  openRegularFile,
  plannedPath,
  targetPath,
  type JudgedPath,
  type VerifiedFile,
} from "../path/index.ts";
import { fields, integer, pathField } from "../input/fields.ts";
import { detectFormat, type TextFormat } from "../text/text-format.ts";
import type { FilesRead } from "./files-read.ts";
import {
  INSTRUCTION_LIMIT_BYTES,
  isInstructionFile,
  readInstructionText,
} from "./instruction-files.ts";
import { createLineReader, MAX_LINE_BYTES } from "./line-reader.ts";
import { isShownImage, detectMediaType } from "./media-type.ts";
import { readChunks } from "./read-chunks.ts";
import { missingFile } from "./missing-file.ts";
import { binaryResult, linesResult, NO_LINES } from "./read-file-result.ts";

export interface ReadFileOptions {
  /** Receives every file that was read, so that a later change of it can be noticed (CODE-5). */
  readonly filesRead?: FilesRead;
  /** How much of an instruction file becomes a system block (INSTR-1); 0: none does. 32 KiB by default. */
  readonly instructionLimitBytes?: number;
}

const DEFAULT_LINES = 200;
const MAX_LINES = 1000;

const INPUT = fields(
  {
    path: pathField,
    start_line: integer("The first line to read, counted from 1; default 1.", {
      minimum: 1,
      default: 1,
    }),
    max_lines: integer(`How many lines to read at the most; default ${DEFAULT_LINES}.`, {
      minimum: 1,
      maximum: MAX_LINES,
      default: DEFAULT_LINES,
    }),
  },
  "path",
);

type ReadFileInput = InferOutput<typeof INPUT>;

export function readFileTool(options: ReadFileOptions = {}): AnyTool {
  return defineTool({
    name: "code.read_file",
    title: "Read a file",
    description:
      `Read lines of a text file, without line numbers, so that the text can be used for an edit. ` +
      `More lines than max_lines: read on at next_start_line. A line is cut after ${MAX_LINE_BYTES} bytes. ` +
      `An image is shown; of other binary files only type and size are shown.`,
    input_schema: INPUT,
    permission: "readonly",
    tags: ["code", "readonly", "filesystem"],
    search_hint: "open view show cat file content lines image",
    concurrency_safe: true,
    destructive: false,
    open_world: false,
    bounds_itself: true,
    redaction: "known_values",
    targets: (input, context) => targetPath("read", input.path, context),
    handler: (input, context) => readFile(input, context, options),
  });
}

async function readFile(
  input: ReadFileInput,
  context: ToolContext,
  { filesRead, instructionLimitBytes = INSTRUCTION_LIMIT_BYTES }: ReadFileOptions,
): Promise<HandlerResult> {
  const planned = plannedPath(context.plan?.resources);
  const file = await openRegularFile(planned.path).catch(async (error: unknown) => {
    throw isFileNotFound(error) ? await missingFile(input.path, planned.path, context) : error;
  });
  try {
    const result = await readOpened(file, input, context);
    filesRead?.note(context.runId, file.path, file.stamp);
    const registers = instructionLimitBytes > 0 && isOfTheProject(input.path, planned, context);
    return registers
      ? await withInstructions(result, file, instructionLimitBytes, context)
      : result;
  } finally {
    await file.close();
  }
}

/** By the name it was asked for or the one it has. What the user let be read once is not repeated ever after. */
function isOfTheProject(given: string, planned: JudgedPath, { roots }: ToolContext): boolean {
  const { path, sensitive } = planned;
  if (!isInstructionFile(given) && !isInstructionFile(path)) return false;
  return sensitive !== true && isWithin(roots.project, path);
}

/** The whole body, whichever lines were asked for (INSTR-1). */
async function withInstructions(
  result: HandlerResult,
  file: VerifiedFile,
  limitBytes: number,
  { redact }: ToolContext,
): Promise<HandlerResult> {
  const read = await readInstructionText(file, limitBytes, redact);
  if (typeof read === "string") return result;
  const { text, bytes, cut } = read;
  const data = { path: file.path, origin: "read", bytes, cut };
  return toolResult({
    ...result,
    context_nodes: [{ kind: "instruction_context", text, data }],
  });
}

/** Encoding and kind are recognised by this much of the beginning. */
const SAMPLE_BYTES = 64 * 1024;

async function readOpened(
  file: VerifiedFile,
  input: ReadFileInput,
  context: ToolContext,
): Promise<HandlerResult> {
  const { start_line: startLine = 1, max_lines: maxLines = DEFAULT_LINES } = input;
  let text: { format: TextFormat; lines: ReturnType<typeof createLineReader> } | undefined;
  for await (const chunk of readChunks(file.handle, file.size, context.signal)) {
    if (text === undefined) {
      const format = detectFormat(chunk.subarray(0, SAMPLE_BYTES), chunk.length <= SAMPLE_BYTES);
      if (format.encoding === "binary") return readBinary(file, detectMediaType(chunk), context);
      // Leaves room for what is said beside the text: the data and a note.
      const room = context.inlineLimitBytes - 1024 - 3 * Buffer.byteLength(file.path);
      const maxBytes = Math.max(MIN_TEXT_BYTES, room);
      const { size } = file;
      const { redact } = context;
      const wanted = { format, startLine, maxLines, maxBytes, size, redact };
      text = { format, lines: createLineReader(wanted) };
    }
    if (text.lines.take(chunk) === "enough") break;
  }
  const about = { path: file.path, size: file.size, roots: context.roots, startLine };
  if (text === undefined) {
    const format = { encoding: "utf-8", bom: false, valid: true } as const;
    return linesResult({ ...about, format, changed: false }, NO_LINES);
  }
  const now = fstatSync(file.handle.fd, { bigint: true });
  const { mtime_ns, size } = file.stamp;
  const changed = String(now.mtimeNs) !== mtime_ns || Number(now.size) !== size;
  return linesResult({ ...about, format: text.format, changed }, text.lines.end());
}

const MIN_TEXT_BYTES = 256;

/** Five million characters in base64, the most that providers take. */
const MAX_IMAGE_BYTES = 3_750_000;
const MAX_HASHED_BYTES = 16 * 1024 * 1024;

async function readBinary(
  file: VerifiedFile,
  media_type: string,
  context: ToolContext,
): Promise<HandlerResult> {
  const about = { path: file.path, size: file.size, roots: context.roots, media_type };
  if (file.size > MAX_HASHED_BYTES) return binaryResult(about);
  const isShown = isShownImage(media_type) && file.size <= MAX_IMAGE_BYTES;
  const hash = createHash("sha256");
  const kept: Buffer[] = [];
  for await (const chunk of readChunks(file.handle, file.size, context.signal)) {
    hash.update(chunk);
    if (isShown) kept.push(Buffer.from(chunk));
  }
  const hashed = { ...about, sha256: hash.digest("hex") };
  return binaryResult(hashed, isShown ? Buffer.concat(kept) : undefined);
}
