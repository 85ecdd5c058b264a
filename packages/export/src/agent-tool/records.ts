// The records of Agent Tool 0.2.0, as this package writes them. `record_type` is an addition: the name that the standard
// gives to the kind, so that each line of an export says which schema it follows. A field without a value is undefined,
// and JSON omits it.

import type { JsonObject, JsonValue } from "@soong/schema";

export const SCHEMA_VERSION = "0.2.0";

interface RecordOf<Kind extends string> {
  readonly record_type: Kind;
  readonly schema_version: typeof SCHEMA_VERSION;
}

export type AgentToolRecord =
  | ToolDeclaration
  | ToolInterface
  | ToolSurface
  | DeferredToolRef
  | ToolPermissionProfile
  | ToolExecutionProfile
  | ToolSchedulerPolicy
  | ToolInvocation
  | ToolPermissionDecision
  | ToolHook
  | ToolInputMutation
  | ToolProgress
  | ToolResultRecord
  | ToolResultPersistence
  | ToolEvent;

export type AgentToolRecordType = AgentToolRecord["record_type"];

export interface ToolDeclaration extends RecordOf<"tool_declaration"> {
  readonly tool_id: string;
  readonly namespace: string;
  readonly name: string;
  /** Empty where only the definitions of the run have it: see `annotations.metadata_ref`. */
  readonly description: string;
  readonly lifecycle: "available" | "disabled" | "requires_setup" | "deferred";
  readonly tool_kind: string;
  readonly capability_refs?: readonly string[];
  readonly input_contract?: JsonObject;
  readonly interface_ref: string;
  readonly execution_profile_ref: string;
  readonly permission_profile_ref: string;
  readonly annotations?: JsonObject;
}

export interface ToolInterface extends RecordOf<"tool_interface"> {
  readonly interface_id: string;
  readonly tool_id: string;
  readonly name: string;
  readonly model_input_schema?: JsonObject;
  readonly schema_visibility: "loaded" | "deferred";
  readonly is_read_only?: boolean;
  readonly is_concurrency_safe?: boolean;
  readonly is_destructive?: boolean;
  readonly is_open_world?: boolean;
  readonly execution_profile_ref: string;
  readonly permission_profile_ref: string;
  readonly interrupt_behavior?: string;
  /** Which of these facts the author declared; the others were assumed. */
  readonly declared_facts?: readonly string[];
}

export interface ToolSurface extends RecordOf<"tool_surface"> {
  readonly surface_id: string;
  readonly scope: "turn";
  readonly created_at: string;
  readonly producer: string;
  readonly tool_refs: readonly string[];
  readonly loaded_tools: readonly string[];
  readonly deferred_tools: readonly string[];
  readonly blocked_tools: readonly AbsentTool[];
  readonly excluded_tools: readonly AbsentTool[];
  readonly selection_policy?: JsonObject;
  readonly model_capabilities?: JsonObject;
  readonly role_constraints?: JsonObject;
  readonly surface_reason: string;
  readonly runtime_refs: readonly string[];
}

export interface AbsentTool {
  readonly tool_id: string;
  readonly reason: string;
  readonly detail?: string;
}

export interface DeferredToolRef extends RecordOf<"deferred_tool_ref"> {
  readonly tool_id: string;
  readonly name: string;
  readonly namespace: string;
  readonly source?: string;
  readonly schema_visibility: "loaded" | "deferred";
  readonly loading_state: "loaded" | "deferred";
  readonly selection_ref: string;
  readonly native_ref?: JsonObject;
}

export interface ToolPermissionProfile extends RecordOf<"tool_permission_profile"> {
  readonly permission_profile_id: string;
  readonly risk_level: "low" | "medium" | "high" | "critical";
  readonly access_kinds: readonly string[];
  readonly write_effects: readonly string[];
  readonly network_scope?: string;
  readonly sandbox_profile?: string;
  readonly approval_required?: boolean;
}

export interface ToolExecutionProfile extends RecordOf<"tool_execution_profile"> {
  readonly execution_profile_id: string;
  readonly execution_kind: string;
  readonly supports_progress: boolean;
  readonly supports_cancel: boolean;
  readonly supports_resume: boolean;
  readonly supports_retries: boolean;
  readonly supports_partial_results: boolean;
  readonly supports_background: boolean;
  readonly supports_artifacts: boolean;
  readonly supports_context_modifiers?: boolean;
  readonly sandboxed?: boolean;
  readonly sandbox_profile?: string;
  /** No call may take longer. */
  readonly timeout_ms?: number;
  readonly default_timeout_ms?: number;
  /** Of one call: what its sandbox left open, or why there was none. */
  readonly sandbox?: object;
}

export interface ToolSchedulerPolicy extends RecordOf<"tool_scheduler_policy"> {
  readonly scheduler_policy_id: string;
  readonly scope: string;
  readonly max_parallel?: number;
  readonly ordering_policy: "preserve_terminal_order";
  readonly yield_policy: "progress_immediate_results_ordered";
  readonly interrupt_behavior: "block";
  readonly sibling_failure_policy: "cancel_dependent";
  readonly context_modifier_policy: "allow_serial_only";
  /** Which calls may start while the model still streams. */
  readonly early_start?: string;
}

export type InvocationStatus =
  | "planned"
  | "selected"
  | "arguments_ready"
  | "validation_failed"
  | "pre_hooks_running"
  | "awaiting_approval"
  | "approved"
  | "denied"
  | "queued"
  | "running"
  | "needs_input"
  | "partial_result"
  | "post_hooks_running"
  | "succeeded"
  | "failed"
  | "canceled"
  | "timed_out"
  | "blocked";

/** Written when the call was requested, and again, complete, when it has ended: the last one of an id counts. */
export interface ToolInvocation extends RecordOf<"tool_invocation"> {
  readonly invocation_id: string;
  readonly tool_id: string;
  readonly surface_id?: string;
  readonly native_call_id?: string;
  readonly native_name?: string;
  readonly status: InvocationStatus;
  readonly model_input?: JsonValue;
  readonly model_input_ref: string;
  /** How long `model_input` was before it was cut. */
  readonly model_input_chars?: number;
  readonly observable_input?: JsonValue;
  readonly observable_input_ref?: string;
  readonly permission_input?: JsonValue;
  readonly permission_input_ref?: string;
  readonly call_input?: JsonValue;
  readonly call_input_ref?: string;
  readonly actor_ref?: string;
  readonly runtime_refs: readonly string[];
  readonly parent_invocation_id?: string;
  readonly permission_decision_refs?: readonly string[];
  readonly hook_refs?: readonly string[];
  readonly evidence_refs?: readonly string[];
  readonly artifact_refs?: readonly ArtifactReference[];
  readonly scheduler_policy_ref?: string;
  readonly execution_profile_ref?: string;
  readonly scheduler?: CallTraits;
  readonly status_transitions: readonly StatusTransition[];
  readonly created_at: string;
  readonly started_at?: string;
  readonly ended_at?: string;
}

/** Of this one call, as the scheduler treated it. */
export interface CallTraits {
  readonly class?: string;
  readonly is_concurrency_safe?: boolean;
  readonly is_read_only?: boolean;
  readonly is_destructive?: boolean;
  readonly is_open_world?: boolean;
  readonly interrupt_behavior?: string;
}

export interface StatusTransition {
  readonly status: InvocationStatus;
  readonly at: string;
}

export interface ArtifactReference {
  readonly artifact_id: string;
  readonly media_type?: string;
  readonly size_bytes?: number;
  readonly digest?: string;
  readonly name?: string;
}

export interface ToolPermissionDecision extends RecordOf<"tool_permission_decision"> {
  readonly decision_id: string;
  readonly invocation_id: string;
  readonly behavior: "allow" | "ask" | "deny";
  readonly mode?: string;
  readonly source?: string;
  readonly reason: DecisionReason;
  readonly rule_refs?: readonly string[];
  readonly blocked_path?: string;
  readonly accept_feedback?: string;
  readonly decided_at: string;
}

export interface DecisionReason {
  readonly type:
    | "rule"
    | "mode"
    | "policy"
    | "hook"
    | "safety_check"
    | "permission_prompt_tool"
    | "other";
  readonly message?: string;
  readonly rule_ref?: string;
  readonly layer?: string;
  /** Where the rule was written. */
  readonly origin?: JsonObject;
  readonly grant_id?: string;
  readonly request_id?: string;
  readonly answered_by?: string;
  /** The answer in full: for this call, or for the session. */
  readonly answer?: string;
  readonly hook_name?: string;
}

export interface ToolHook extends RecordOf<"tool_hook"> {
  /** One run of a hook; `hook_name` is the hook. */
  readonly hook_id: string;
  readonly hook_name: string;
  readonly hook_event: HookEventName;
  readonly invocation_id: string;
  readonly tool_id: string;
  readonly outputs?: readonly { readonly type: string; readonly message?: string }[];
  readonly permission_result?: { readonly behavior: "ask" | "deny" | "passthrough" };
  readonly started_at?: string;
  readonly ended_at?: string;
}

export type HookEventName =
  | "pre_tool_use"
  | "post_tool_use"
  | "post_tool_use_failure"
  | "permission_request";

export interface ToolInputMutation extends RecordOf<"tool_input_mutation"> {
  readonly mutation_id: string;
  readonly invocation_id: string;
  readonly source_type: "hook" | "runtime";
  /** The run of the hook. */
  readonly source_ref?: string;
  /** What changed it: a hook, the schema, or the tool. */
  readonly source?: string;
  readonly from_input_ref: string;
  readonly to_input_ref: string;
  /** What `to_input_ref` refers to. */
  readonly to_input?: JsonValue;
  readonly changed_fields?: readonly string[];
  readonly reason?: string;
  readonly created_at: string;
}

export interface ToolProgress extends RecordOf<"tool_progress"> {
  readonly progress_id: string;
  readonly invocation_id: string;
  readonly sequence: number;
  readonly status: "running" | "waiting_for_permission";
  readonly message?: string;
  readonly percent?: number;
  readonly elapsed_ms?: number;
  readonly data?: JsonValue;
  readonly timestamp: string;
}

export type ResultStatus =
  | "succeeded"
  | "partial_succeeded"
  | "failed"
  | "denied"
  | "rejected"
  | "redacted"
  | "too_large"
  | "canceled"
  | "timed_out"
  | "synthetic_error"
  | "discarded";

export interface ToolResultRecord extends RecordOf<"tool_result"> {
  readonly result_id: string;
  readonly invocation_id: string;
  readonly status: ResultStatus;
  readonly is_error: boolean;
  readonly content?: readonly object[];
  readonly structured_content?: JsonValue;
  readonly ui_facing_summary?: string;
  readonly resource_refs?: readonly object[];
  readonly artifact_refs?: readonly ArtifactReference[];
  readonly evidence_refs?: readonly string[];
  readonly telemetry_refs?: readonly object[];
  readonly persistence_refs: readonly string[];
  readonly summary?: string;
  readonly redaction_state?: string;
  readonly error?: ToolErrorRecord;
  readonly created_at: string;
}

export interface ToolErrorRecord {
  readonly error_class: string;
  readonly error_code?: string;
  readonly message?: string;
  readonly recoverability?: string;
  readonly retryable?: boolean;
  /** Whether it happened is not known. */
  readonly outcome?: "unknown";
  readonly abort_reason?: string;
  /** The call beside it whose failure cancelled it. */
  readonly sibling_invocation_id?: string;
  readonly details?: JsonValue;
}

export interface ToolResultPersistence extends RecordOf<"tool_result_persistence"> {
  readonly decision_id: string;
  readonly invocation_id: string;
  readonly result_id: string;
  readonly strategy: PersistenceStrategy;
  readonly threshold?: JsonObject;
  readonly original_size_bytes?: number;
  readonly original_chars?: number;
  readonly preview_chars?: number;
  readonly persisted_ref?: ArtifactReference;
  readonly redaction_state?: string;
  readonly reason?: string;
  readonly created_at: string;
}

export type PersistenceStrategy =
  | "inline"
  | "preview_and_persist"
  | "ref_only"
  | "redact"
  | "drop_with_reason"
  | "never_persist";

export interface ToolEvent extends RecordOf<"tool_event"> {
  readonly event_id: string;
  readonly event_type: ToolEventType;
  readonly source: string;
  readonly subject: string;
  readonly time: string;
  /** Rises: the `seq` of the fact times 1 000 000, plus the place of the event among those of the fact. */
  readonly sequence: number;
  readonly invocation_id?: string;
  readonly tool_id?: string;
  readonly data?: object;
}

export type ToolEventType =
  | "tool.declared"
  | "tool.surface.created"
  | "tool.surface.updated"
  | "tool.deferred.discovered"
  | "tool.deferred.loaded"
  | "tool.invocation.planned"
  | "tool.invocation.selected"
  | "tool.invocation.arguments_ready"
  | "tool.invocation.validation_failed"
  | "tool.invocation.queued"
  | "tool.invocation.started"
  | "tool.invocation.progress"
  | "tool.invocation.partial_result"
  | "tool.invocation.yielded"
  | TerminalEventType
  | "tool.hook.pre.started"
  | "tool.hook.pre.completed"
  | "tool.hook.post.started"
  | "tool.hook.post.completed"
  | "tool.permission.requested"
  | "tool.permission.decided"
  | "tool.result.created"
  | "tool.result.persisted"
  | "tool.result.redacted";

export type TerminalEventType =
  `tool.invocation.${"succeeded" | "failed" | "canceled" | "timed_out"}`;
