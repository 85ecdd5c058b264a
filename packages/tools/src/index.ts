// @soong/tools: the built-in tools, declarative tools and command hooks, on the kernel.

export { readArtifactTool } from "./artifact/read-artifact.ts";
export { editFileTool } from "./change/edit-file.ts";
export type { Undo } from "./change/change-file.ts";
export { undoChange, undoDiff, undoOf } from "./change/undo.ts";
export { writeFileTool } from "./change/write-file.ts";
export * from "./code-tools.ts";
export * from "./command/index.ts";
export { describeProblem, type Problem } from "@soong/platform";
export { variableName } from "./declarative/declaration.ts";
export {
  checkDeclarativeTool,
  loadDeclarativeTools,
  type CheckedTool,
  type CheckOptions,
  type DeclarativeToolsOptions,
  type LoadedTools,
} from "./declarative/load-tools.ts";
export { ownProgramProblem } from "./json/trusted-file.ts";
export { wholeFileDiff } from "./edit/unified-diff.ts";
export * from "./file/instruction-files.ts";
export * from "./file/files-read.ts";
export * from "./file/read-file.ts";
export { commandHook, type CommandHook } from "./hook/command-hook.ts";
export {
  loadHooks,
  type LoadedHook,
  type LoadedHooks,
  type LoadHooksOptions,
} from "./hook/load-hooks.ts";
export * from "./path/index.ts";
export { openEntrySandbox, type EntrySandboxOptions } from "./sandbox/index.ts";
export { listDirTool } from "./search/list-dir.ts";
export { webFetchTool, type WebFetchOptions } from "./web/fetch.ts";
export { searchTool, type SearchToolOptions } from "./search/search.ts";
