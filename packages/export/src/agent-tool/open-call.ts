// A call that has not ended: what its invocation record will say.

import type { JsonValue } from "@soong/schema";
import type { OpenRun } from "./open-run.ts";
import type { EventSubject, RecordWriter } from "./record-writer.ts";
import {
  SCHEMA_VERSION,
  type ArtifactReference,
  type CallTraits,
  type HookEventName,
  type InvocationStatus,
  type StatusTransition,
  type ToolInvocation,
} from "./records.ts";

export interface OpenHook {
  readonly hook_id: string;
  readonly hook_name: string;
  readonly hook_event: HookEventName;
  readonly started_at: string | undefined;
}

/** A call that waits for thousands of approvals of calls inside it keeps the first of its changes, and its end. */
const MAX_TRANSITIONS = 100;

export class OpenCall implements EventSubject {
  readonly invocation_id: string;
  readonly tool_id: string;
  readonly tool_name: string;
  readonly run: OpenRun;
  readonly createdAt: string;
  readonly actor: string | undefined;
  readonly runtimeRefs: readonly string[];
  status: InvocationStatus = "planned";
  readonly transitions: StatusTransition[] = [];
  surfaceId: string | undefined = undefined;
  nativeCallId: string | undefined = undefined;
  nativeName: string | undefined = undefined;
  parentId: string | undefined = undefined;
  modelInput: JsonValue | undefined = undefined;
  modelInputChars: number | undefined = undefined;
  /** The input as the last change left it, and what it is called. */
  observable: JsonValue | undefined = undefined;
  inputRef: string;
  mutationCount = 0;
  permissionInput: JsonValue | undefined = undefined;
  permissionInputRef: string | undefined = undefined;
  callInput: JsonValue | undefined = undefined;
  callInputRef: string | undefined = undefined;
  decisions: string[] | undefined = undefined;
  hooks: string[] | undefined = undefined;
  openHooks: OpenHook[] | undefined = undefined;
  evidence: string[] | undefined = undefined;
  artifacts: ArtifactReference[] | undefined = undefined;
  executionProfileRef: string | undefined = undefined;
  scheduler: CallTraits | undefined = undefined;
  startedAt: string | undefined = undefined;
  progressCount = 0;
  redactions: number | undefined = undefined;
  truncation: { readonly [field: string]: unknown } | undefined = undefined;

  constructor(
    invocation_id: string,
    tool: { readonly tool_id: string; readonly tool_name: string },
    run: OpenRun,
    agent: string | undefined,
    createdAt: string,
  ) {
    this.invocation_id = invocation_id;
    this.tool_id = tool.tool_id;
    this.tool_name = tool.tool_name;
    this.run = run;
    this.actor = agent;
    this.runtimeRefs = run.runtimeRefs;
    this.createdAt = createdAt;
    this.inputRef = modelInputRef(invocation_id);
  }

  get subject(): string {
    return this.invocation_id;
  }

  get started(): boolean {
    return this.startedAt !== undefined;
  }

  change(status: InvocationStatus, at: string): void {
    if (status === this.status && this.transitions.length > 0) return;
    this.status = status;
    if (this.transitions.length < MAX_TRANSITIONS) this.transitions.push({ status, at });
  }

  /** Its end is on record even where its changes were too many. */
  end(status: InvocationStatus, at: string): void {
    this.status = status;
    this.transitions.push({ status, at });
  }

  addDecision(id: string): void {
    (this.decisions ??= []).push(id);
  }

  addArtifact(artifact: ArtifactReference): void {
    const known = this.artifacts?.some(({ artifact_id }) => artifact_id === artifact.artifact_id);
    if (known !== true) (this.artifacts ??= []).push(artifact);
  }

  /** The id of the next run of a hook. */
  nameHook(): string {
    const id = `${this.invocation_id}/hook/${(this.hooks?.length ?? 0) + 1}`;
    (this.hooks ??= []).push(id);
    return id;
  }
}

export function modelInputRef(invocation_id: string): string {
  return `${invocation_id}/input/model`;
}

export function writeInvocation(call: OpenCall, writer: RecordWriter, endedAt?: string): void {
  const record: ToolInvocation = {
    record_type: "tool_invocation",
    schema_version: SCHEMA_VERSION,
    invocation_id: call.invocation_id,
    tool_id: call.tool_id,
    surface_id: call.surfaceId,
    native_call_id: call.nativeCallId,
    native_name: call.nativeName,
    status: call.status,
    model_input: call.modelInput,
    model_input_ref: modelInputRef(call.invocation_id),
    model_input_chars: call.modelInputChars,
    observable_input: call.observable,
    observable_input_ref: call.inputRef,
    permission_input: call.permissionInput,
    permission_input_ref: call.permissionInputRef,
    call_input: call.callInput,
    call_input_ref: call.callInputRef,
    actor_ref: call.actor,
    runtime_refs: call.runtimeRefs,
    parent_invocation_id: call.parentId,
    permission_decision_refs: call.decisions,
    hook_refs: call.hooks,
    evidence_refs: call.evidence,
    artifact_refs: call.artifacts,
    scheduler_policy_ref: call.run.schedulerPolicyId,
    execution_profile_ref: call.executionProfileRef,
    scheduler: call.scheduler,
    // The first record is written while the call continues: it has its own copy of the list.
    status_transitions: endedAt === undefined ? [...call.transitions] : call.transitions,
    created_at: call.createdAt,
    started_at: call.startedAt,
    ended_at: endedAt,
  };
  writer.add(record);
}
