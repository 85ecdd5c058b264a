// The conformance suite: what every store must pass, as checks any test runner can run. Each gets a place of
// its own with nothing at it, and throws where the store breaks the contract.

export { artifactChecks, type ArtifactsUnderTest } from "./artifact-checks.ts";
export type { Check, ConformanceCheck, StoreUnderTest } from "./check.ts";
export { conformanceChecks } from "./checks.ts";
export { journalChecks, type JournalUnderTest } from "./journal-checks.ts";
export { taskStorageChecks, type TaskStorageUnderTest } from "./task-storage.ts";
