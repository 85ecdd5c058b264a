// The file boundary (PATH): which file a given name really means, opening exactly the file that was
// judged, and putting new bytes in its place whole, one writer at a time. It touches the disk and
// nothing else; every tool that reads or writes a file goes through this module.

export {
  linkTargetNow,
  resolvePath,
  resolvePathNow,
  resolveRulePath,
  walkPathNow,
} from "./resolve-path.ts";
export { entriesOf, exists, existsThroughLinks, isDirectory } from "./look.ts";
export { openRegularFile } from "./open-regular-file.ts";
export type { VerifiedFile } from "./open-regular-file.ts";
export { openDirectory } from "./open-directory.ts";
export type { VerifiedDirectory } from "./open-directory.ts";
export { stampOf } from "./file-stamp.ts";
export type { FileStamp } from "./file-stamp.ts";
export { readWholeFile } from "./read-whole-file.ts";
export type { WholeFile } from "./read-whole-file.ts";
export { commitFile } from "./commit-file.ts";
export type { FileCommit, CommittedFile } from "./commit-file.ts";
export { removeFile } from "./remove-file.ts";
export type { FileRemoval } from "./remove-file.ts";
export { withFileLock } from "@soong/platform";
export { clearAbandonedWrites } from "./abandoned-writes.ts";
export { isCaseInsensitive } from "./case-insensitive.ts";
export { judgedPath } from "./judged-path.ts";
export type { JudgedPath } from "./judged-path.ts";
export { restrictedHardLinks, restrictedNameFinder } from "./restricted-hard-links.ts";
export { shownPath } from "./shown-path.ts";
export { ranByGit } from "./git-directory.ts";
