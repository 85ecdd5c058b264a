// The sqlite module: the database file, its tables and versions, its errors, and the lock of a session.
// Knows no fact.

export type { Database, SqlValue, Statement } from "./driver.ts";
export { rollBack } from "./migrate.ts";
export * from "./open-database.ts";
export type { OpenedFiles } from "./opened-files.ts";
export * from "./session-lock.ts";
export { asStoreError, isConstraint } from "./sqlite-error.ts";
export * from "./text-column.ts";
export { pauseMs } from "./write-turn.ts";
