// @soong/export: facts as records of other standards (EXPORT-1), from a journal or live. Pure functions; only `telemetry` sends anything.

export type { Projection } from "./projection/projection.ts";
export {
  AGENT_TOOL_UNMAPPED,
  createAgentToolProjection,
  type AgentToolOptions,
} from "./agent-tool/agent-tool-projection.ts";
export { findAgentToolProblems } from "./agent-tool/find-agent-tool-problems.ts";
export type { AgentToolProblem, AgentToolRule } from "./agent-tool/problem.ts";
export type { AgentToolRecord, AgentToolRecordType } from "./agent-tool/records.ts";
export { findOtlpProblems } from "./otlp/find-otlp-problems.ts";
export type {
  OtlpAttribute,
  OtlpMetricsRequest,
  OtlpSpan,
  OtlpTraceRequest,
} from "./otlp/otlp-json.ts";
export {
  createOtlpMetrics,
  type OtlpMetrics,
  type OtlpMetricsOptions,
} from "./otlp/otlp-metrics.ts";
export {
  createOtlpProjection,
  createTraceRequest,
  type OtlpOptions,
} from "./otlp/otlp-projection.ts";
export { createSpanProjection, type SpanOptions } from "./otlp/span-projection.ts";
export { FACTS_WITHOUT_SPAN } from "./otlp/unmapped-facts.ts";
export {
  exportTelemetry,
  openTelemetry,
  type Telemetry,
  type TelemetryPorts,
  type TelemetryReport,
} from "./telemetry/telemetry.ts";
export {
  readTelemetrySettings,
  type TelemetryOptions,
  type TelemetrySettings,
} from "./telemetry/telemetry-settings.ts";
export { listTelemetrySecrets } from "./telemetry/telemetry-variables.ts";
export {
  AGENT_RUNTIME_UNMAPPED,
  createAgentRuntimeProjection,
  type AgentRuntimeOptions,
} from "./agent-runtime/agent-runtime-projection.ts";
export {
  AGENT_RUNTIME_EVENT_TYPES,
  type AgentRuntimeEvent,
  type AgentRuntimeEventType,
  type AgentRuntimeProfile,
} from "./agent-runtime/event.ts";
export { findAgentRuntimeProblems } from "./agent-runtime/find-problems.ts";
export type { AgentRuntimeProblem, AgentRuntimeRule } from "./agent-runtime/problem.ts";
export {
  createAgentRuntimeSnapshot,
  type AgentRuntimeReadModel,
  type AgentRuntimeSnapshot,
  type AgentRuntimeSnapshotOptions,
} from "./agent-runtime/snapshot.ts";
export { invocationId } from "./projection/invocation-id.ts";
export {
  createCloudEventsProjection,
  type CloudEvent,
} from "./cloud-events/cloud-events-projection.ts";
