// The memory module: what is known from earlier work. Agents recall it and propose to it; only the extraction job writes it.

export {
  readCandidates,
  isCandidateFact,
  type CandidateRecord,
  type FoundCandidate,
  type RecordedSource,
  type RunArchive,
} from "./candidate.ts";
export {
  discardCandidates,
  extractMemories,
  findOpenCandidates,
  type ExtractionOptions,
  type ExtractionReport,
  type RefusedCandidate,
  type WrittenMemory,
} from "./extract-memories.ts";
export {
  addMemory,
  forgetMemory,
  type AddedMemory,
  type AddMemoryOptions,
  type Exclusively,
  type ForgetOptions,
  type Forgotten,
  type StoredMemory,
} from "./memory-writer.ts";
export type {
  MemoryEntry,
  MemoryNote,
  MemoryOwner,
  MemoryScope,
  MemorySource,
} from "./memory-entry.ts";
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
