// The labelled instants at which a crash would hurt most. A test kills the process there; a program that
// gives no `at` pays one comparison.

export const CRASH_POINTS = [
  "create.file",
  "create.wal",
  "create.tables",
  "session.locked",
  "session.held",
  "recovery.before",
  "recovery.after",
  "entry.taken",
  "commit.before",
  "commit.written",
  "commit.after",
  "artifact.written",
  "artifact.renamed",
  "artifact.kept",
  "folder.before",
  "folder.events",
  "folder.after",
  "remove.marked",
  "remove.files",
  "remove.after",
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];

export type AtCrashPoint = (point: CrashPoint) => void;
