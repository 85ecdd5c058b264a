// What every bridge is made of: turns of another loop on the kernel, approvals by the host, tools that the host executes itself.

export { createApprovalCheck, type ApprovalCheck } from "./approval-check.ts";
export { checkRun, type BridgeRun } from "./bridge-run.ts";
export {
  BridgedTurn,
  type CallOptions,
  type CallOutcome,
  type PushedCall,
} from "./bridged-turn.ts";
export {
  createExternalTools,
  type BeforeAnswer,
  type ExternalDefinition,
  type ExternalOutput,
  type ExternalTools,
} from "./external-tools.ts";
export { followCall, type FollowedCall } from "./follow-call.ts";
export { createGate, type Gate } from "./gate.ts";
export { createHostApprovals, type HostApprovals } from "./host-approvals.ts";
export { listTools, loadedNames, type ListedTool } from "./list-tools.ts";
export { NOT_OFFERED, readOfferedNames, type OfferedNames } from "./offered-names.ts";
export { packArguments, unpackArguments, unpackInput } from "./raw-arguments.ts";
export { readStream, type PartReader } from "./read-stream.ts";
export { renderBlocks, renderText } from "./render-outcome.ts";
export { resolveName } from "./resolve-name.ts";
export { StreamedCalls, type StreamedAnswer, type StreamedCall } from "./streamed-calls.ts";
export { watchProgress, type Progress } from "./watch-progress.ts";
