// The journal module: facts, the append-only record they go to, artifacts beside it, and what may never
// be written into either. Knows no tool but its result.

export * from "./artifacts.ts";
export * from "./bound-fact.ts";
export * from "./fact.ts";
export * from "./journal.ts";
export * from "./live-facts.ts";
export {
  factId,
  type FactCall,
  type FactOrigin,
  type FactRecord,
  type NotedTypes,
} from "./noted-entry.ts";
export * from "./ports.ts";
export * from "./recorder.ts";
export type { RedactionScope } from "./redact/find-secrets.ts";
export {
  isSecretName,
  isSecretShape,
  secretVariables,
  type KnownSecret,
} from "./redact/known-secret.ts";
export * from "./redact/redactor.ts";
