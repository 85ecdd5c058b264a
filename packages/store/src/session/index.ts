// The session module: one session in the tables: its writer, its readers, and what a crash left open in it.

export { createCommitter } from "./committer.ts";
export * from "./open-session.ts";
export { runRecord, sessionRecord } from "./records.ts";
export {
  NOTHING_OPEN,
  openStateOf,
  placeOfSession,
  type AgentRow,
  type CallRow,
  type NodeRow,
  type OpenState,
  type RunRow,
  type SessionRow,
} from "./rows.ts";
export { createRowsOfFacts, type RowsOfFacts } from "./rows-of-facts.ts";
export { asCount, sessionReader, type Query, type SessionPlace } from "./session-reader.ts";
export { writeStatements, type WriteStatements } from "./statements.ts";
