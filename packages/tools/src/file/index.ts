// The file module: reading a file for a model, page by page, and the memory of what each run has read.

export {
  instructionFiles,
  type InstructionFile,
  type InstructionFiles,
  type InstructionFilesOptions,
  type LoadInstructionFiles,
  type SkippedInstructionFile,
} from "./instruction-files.ts";
export { createFilesRead, type FilesRead } from "./files-read.ts";
export { readFileTool, type ReadFileOptions } from "./read-file.ts";
