// The edit module: plans changes of one file's text over its bytes and shows them as a diff. Pure: it is
// given bytes and touches no file.

export { planEdits } from "./plan-edits.ts";
export { readGitNames, readName } from "./patch-header.ts";
export { planPatch } from "./patch.ts";
export { renderDiff, wholeFileDiff } from "./unified-diff.ts";
