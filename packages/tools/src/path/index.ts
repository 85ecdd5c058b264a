// The file boundary (PATH): which file a given name really means, opening exactly the file that was
// judged, and putting new bytes in its place whole, one writer at a time. It touches the disk and
// nothing else; every tool that reads or writes a file goes through this module.

export { withFileLock } from "@soong/platform";
export { isCaseInsensitive } from "./case-insensitive.ts";
export { commitFile, removeFile } from "./commit-file.ts";
export type { CommittedFile, FileCommit, FileRemoval } from "./commit-file.ts";
export {
  configHoldsSecret,
  findBranch,
  placesRanByConfig,
  ranByGit,
  settingsNamed,
} from "./git-directory.ts";
export { judgedPath, plannedPath, shownPath, targetPath } from "./judged-path.ts";
export type { JudgedPath } from "./judged-path.ts";
export { openDirectory } from "./open-directory.ts";
export { isFileNotFound } from "./path-failure.ts";
export type { VerifiedDirectory } from "./open-directory.ts";
export { openRegularFile, readWholeFile, readStamp } from "./open-regular-file.ts";
export type { FileStamp, VerifiedFile, WholeFile } from "./open-regular-file.ts";
export {
  entriesOf,
  exists,
  existsThroughLinks,
  isDirectory,
  linkTargetNow,
  resolvePath,
  resolvePathNow,
  resolveRulePath,
  walkPathNow,
  lookAt,
  lookAtNode,
  readSmall,
} from "./resolve-path.ts";
export {
  INSTALLED,
  inodeKey,
  restrictedHardLinks,
  restrictedNameFinder,
} from "./restricted-hard-links.ts";
export { clearAbandonedWrites } from "./temporary-file.ts";
