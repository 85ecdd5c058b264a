// The change module: the tools that put new bytes into a file, write_file and edit_file, and the way back.
// Planning shows the diff and names the pre-image; execution writes exactly what was shown, or nothing.

export { editFileTool } from "./edit-file.ts";
export { undoDiff } from "./undo-diff.ts";
export { undoChange, undoOf, type Undo } from "./undo.ts";
export { writeFileTool } from "./write-file.ts";
