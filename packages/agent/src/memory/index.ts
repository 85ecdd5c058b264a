// The memory module: what is known from earlier work. Agents recall it and propose to it; only the extraction job writes it.

export {
  readCandidates,
  isCandidateFact,
  type FoundCandidate,
  type RecordedSource,
  type RunArchive,
} from "./candidate.ts";
export {
  extractMemories,
  type Exclusively,
  type ExtractionOptions,
  type ExtractionReport,
  type RefusedCandidate,
  type WrittenMemory,
  forgetMemory,
  type ForgetOptions,
  type Forgotten,
} from "./extract-memories.ts";
export type { MemoryEntry, MemoryOwner, MemoryScope, MemorySource } from "./memory-entry.ts";
export { listMemories, readMemories, type ReadMemories } from "./memory-folder.ts";
export {
  memoryTools,
  type MemoryToolParts,
  type MemoryWriting,
  type WrittenFields,
} from "./memory-tools.ts";
export {
  externalStartRecall,
  startRecall,
  type ExternalStartRecallParts,
  type StartingRun,
  type StartRecall,
  type StartRecallParts,
  type RecallFields,
} from "./recall-tool.ts";
export type { ExternalTool } from "./external-tool.ts";
