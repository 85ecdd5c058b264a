// The built-in tools as a set: what a kernel is given to work on files and run commands. They share one
// memory of the files each run has read.

import type { AnyTool } from "@soong/core";
import { editFileTool } from "./change/edit-file.ts";
import { writeFileTool } from "./change/write-file.ts";
import { runCommandTool, type RunCommandOptions } from "./command/index.ts";
import { createFilesRead } from "./file/files-read.ts";
import { readFileTool } from "./file/read-file.ts";
import { listDirTool } from "./search/list-dir.ts";
import { searchTool } from "./search/search.ts";

export interface CodeToolsOptions extends Omit<RunCommandOptions, "filesRead"> {
  /** Where the locks of files are; the same for every process of a user. Protect it from writing. */
  readonly lockDirectory?: string;
  /** How much of an instruction file that is read becomes a system block; 0: none does (INSTR-1). */
  readonly instructionLimitBytes?: number;
}

/** code.read_file, list_dir, search, write_file, edit_file and run_command. */
export function codeTools(options: CodeToolsOptions = {}): AnyTool[] {
  const filesRead = createFilesRead();
  const { lockDirectory, instructionLimitBytes: limit, ...ofCommands } = options;
  const reads = { filesRead, instructionLimitBytes: limit };
  const changes = { filesRead, lockDirectory };
  return [
    readFileTool(reads),
    listDirTool(),
    searchTool(),
    writeFileTool(changes),
    editFileTool(changes),
    runCommandTool({ ...ofCommands, filesRead }),
  ];
}
