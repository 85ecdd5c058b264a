// The facts that the kernel writes, by type (EVENT-1). What old journals lack is optional.

import type { KernelConfig, PermissionAnswer, PermissionRequest } from "./call/index.ts";
import type { HookEvent } from "./hook/hook.ts";
import type { ArtifactRecord, TerminalFactType } from "./journal/index.ts";
import type { Judgement, Mode, PermissionFacts, ToolGrant } from "./permission/index.ts";
import type { RecordedCallClass } from "./schedule/schedule.ts";
import type { JsonObject, JsonValue } from "@soong/schema";
import type { CatalogRecord } from "./surface/catalog.ts";
import type { ModelProfile } from "./surface/profile.ts";
import type { Role } from "./surface/ceiling.ts";
import type {
  ArtifactRef,
  Effects,
  InterruptBehavior,
  SandboxLimits,
  SandboxViolation,
  ResultMetadata,
  ToolResult,
  ToolStatus,
} from "./tool/index.ts";

declare module "./journal/fact.js" {
  interface FactPayloads extends KernelFactPayloads {}
}

export interface KernelFactPayloads extends Record<TerminalFactType, TerminalData> {
  "session.created": object | SessionCreatedData;
  /** It waits behind `ahead` other runs. */
  "run.queued": { ahead?: number };
  "run.started": RunStartData;
  "run.completed": RunEndData;
  "run.failed": RunEndData;
  "run.aborted": RunEndData;
  "tool.catalog.resolved": CatalogRecord & { definitions?: ArtifactRef };
  "tool.deferred.loaded": { tools: readonly string[]; surface_revision: number };
  "tool.requested": RequestedData;
  "tool.validated": { effects: Effects };
  "tool.queued": { class: RecordedCallClass };
  "tool.started": StartedData;
  "tool.progress": {
    message?: string;
    progress?: number;
    total?: number;
    data?: JsonValue;
    merged?: number;
  };
  /** The handler settled after its call had ended. */
  "tool.late": { how: string };
  /** A started call waits for an approval, or no longer does: meanwhile it holds no slot. */
  "tool.waiting": { waits: boolean };
  /** No call of this turn starts any more. */
  "turn.halted": { kind: string; reason?: string; first_call_id?: string };
  "tool.yielded": { status?: ToolStatus };
  "input.mutated": {
    source: string;
    reason: string;
    changed_fields: readonly string[];
    observable_input: JsonValue;
  };
  "hook.started": HookData;
  "hook.completed": HookData & { duration_ms: number; outcome: string };
  "hook.failed": HookData & { duration_ms: number; message: string };
  /** `stop`: why the hook ended the whole run, where it did. */
  "hook.denied": { hook: string; reason: string; stop?: string };
  "permission.evaluated": EvaluatedData;
  "permission.requested": { request: PermissionRequest };
  "permission.resolved": PermissionAnswer & { request_id: string; digest: string };
  "permission.failed": { request_id: string; message: string };
  "grant.created": { grant: ToolGrant };
  "grant.revoked": { grant_id: string };
  "artifact.created": ArtifactRef & Partial<ArtifactRecord>;
  "output.truncated": NonNullable<ResultMetadata["truncation"]>;
  "output.redacted": { replacements: number };
  "sandbox.applied": SandboxLimits;
  /** A command ran without one, because this machine has none. */
  "sandbox.missing": { why: string };
  "sandbox.violation": SandboxViolation;
  "mcp.server.elicitation": { message: string; mode: string; action: string };
  /** `agent_id` continues from `node_id`: a rewind, or the change to another branch. */
  "context.rewound": { agent_id: string; node_id: string; reason?: string };
  /** `path` is again as it was before the call (CODE-6). Of the session, not of a run. */
  "change.undone": { path: string; of_run?: string };
  error: ErrorData;
}

export interface SessionCreatedData {
  dispatched_by?: SessionDispatch;
}

/** What a session was opened for: a step of a task that a run of another session has dispatched. */
export interface SessionDispatch {
  readonly session_id: string;
  readonly run_id: string;
  readonly agent_id: string;
  /** The call that waits for it. */
  readonly tool_call_id: string;
  readonly task_id: string;
  readonly step_id: string;
}

export interface RunStartData {
  /** Absent in old journals: what ended when is inferred there. */
  record_version?: number;
  role: Role;
  mode: Mode;
  policy: JsonObject;
  surface_revision: number;
  config: KernelConfig;
  request: {
    profile: ModelProfile;
    allowed_tools?: readonly string[];
    skip_missing_tools?: boolean;
    suggested_tools?: readonly string[];
    task_denied?: readonly string[];
    loaded_tools?: readonly string[];
  };
  definitions?: ArtifactRef;
}

export interface RunEndData {
  reason?: string;
  message?: string;
  error?: { code: string; message?: string };
  turns?: number;
}

export interface RequestedData {
  index: number;
  /** False: the turn was over, and the call was never looked at. */
  heard?: boolean;
  surface_revision?: number;
  node_id?: string;
  parent_node_id?: string;
  native_call_id?: string;
  native_name?: string;
  alias?: string;
  /** The call whose tool made this one. */
  within_tool_call_id?: string;
  /** Its user, or the host, refused it before the kernel got it. */
  refused?: { reason?: string; by?: "host" };
  /** Neither a model nor a program made it, and it needed no approval. */
  made_by?: "runtime";
  /** As the model sent it, redacted (SCHEMA-6). Cut where `model_input_chars` says how long it was. */
  model_input?: JsonValue;
  model_input_chars?: number;
  /** It was no text, or may not be recorded: `model_input` says so instead. */
  model_input_described?: true;
}

export interface StartedData {
  decision?: string;
  /** The id of the fact that decided. */
  decision_ref?: string;
  class?: RecordedCallClass;
  effects?: Effects;
  is_destructive?: boolean;
  interrupt_behavior?: InterruptBehavior;
  digest?: string;
  hooks?: readonly JsonObject[];
  /** Absent where it is the `model_input` of the request. */
  call_input?: JsonValue;
}

export interface TerminalData {
  result: ToolResult;
  node_id?: string;
  decision_ref?: string;
  /** When it ended, where that was recorded later: after which fact, and as which of its turn. */
  ended?: { readonly after: number; readonly nth: number };
  person_view?: string;
  /** The call beside it whose failure cancelled it. */
  cancelled_by?: string;
}

export interface EvaluatedData
  extends
    Pick<Judgement, "decision" | "reason" | "chain" | "grant_id">,
    Pick<
      PermissionFacts,
      "permission" | "effects" | "resources" | "hosts" | "planned_destructive"
    > {
  /** Absent where it is the `model_input` of the request. */
  permission_input?: JsonValue;
  digest?: string;
  /** Absent for a tool that plans nothing: it is judged once. */
  stage?: "targets" | "plan";
}

interface HookData {
  hook: string;
  event: HookEvent;
}

export interface ErrorData {
  code: string;
  message: string;
  tool_name?: string;
  path?: string;
  origin?: string;
  of_run?: string;
}
