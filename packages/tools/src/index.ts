// @soong/tools: the built-in tools, declarative tools and command hooks, on the kernel.

export { readArtifactTool } from "./artifact/index.ts";
export { editFileTool } from "./change/edit-file.ts";
export type { Undo } from "./change/change-file.ts";
export { undoChange, undoDiff, undoOf } from "./change/undo.ts";
export { writeFileTool } from "./change/write-file.ts";
export * from "./code-tools.ts";
export * from "./command/index.ts";
export * from "./declarative/index.ts";
export * from "./file/index.ts";
export * from "./hook/index.ts";
export * from "./path/index.ts";
export { listDirTool } from "./search/list-dir.ts";
export { searchTool, type SearchToolOptions } from "./search/search.ts";
