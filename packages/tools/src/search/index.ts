// The search module: what is in a directory (CODE-2) and where a text occurs (CODE-3). It reads directories
// and files, and starts ripgrep; sensitive files are left out of a search and counted (PATH-3).

export { listDirTool } from "./list-dir.ts";
export { searchTool, type SearchToolOptions } from "./search.ts";
