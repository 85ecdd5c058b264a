// What the prose of Agent Tool 0.2.0 lists and its schemas do not check: statuses, classes of errors and events, kinds.
// Also its rule that a field without a value is omitted.

/** One line for each value that the standard does not know. */
export function findUnknownValues(record: object): string[] {
  const fields = record as Readonly<Record<string, unknown>>;
  const kind = String(fields.record_type);
  const problems = Object.entries(fields).flatMap(([name, value]) =>
    value === null ? [`${kind}.${name} is null: it must be omitted`] : [],
  );
  if (fields.schema_version !== "0.2.0") problems.push(`${kind}.schema_version is not 0.2.0`);
  for (const [name, known] of Object.entries(KNOWN_VALUES[kind] ?? {})) {
    const value = name.split(".").reduce<unknown>(readField, fields);
    if (value !== undefined && !known.has(value)) {
      problems.push(`${kind}.${name} is unknown: ${JSON.stringify(value)}`);
    }
  }
  for (const transition of readList(fields.status_transitions)) {
    const status = readField(transition, "status");
    if (!INVOCATION_STATUSES.has(status)) {
      problems.push(`${kind}.status_transitions has an unknown status: ${JSON.stringify(status)}`);
    }
  }
  for (const name of ["created_at", "started_at", "ended_at", "decided_at", "timestamp", "time"]) {
    const time = fields[name];
    if (time !== undefined && (typeof time !== "string" || Number.isNaN(Date.parse(time)))) {
      problems.push(`${kind}.${name} is no time: ${JSON.stringify(time)}`);
    }
  }
  return problems;
}

const INVOCATION_STATUSES = listValues(`planned selected schema_parse_failed arguments_ready
  validation_failed pre_hooks_running awaiting_approval approved denied queued running needs_input
  partial_result post_hooks_running yielded succeeded failed canceled timed_out blocked`);

const RESULT_STATUSES = listValues(`succeeded partial_succeeded failed denied rejected redacted
  too_large canceled timed_out synthetic_error discarded`);

const ERROR_CLASSES = listValues(`unknown_tool schema_not_loaded schema_validation_failed
  invalid_arguments capability_gap setup_required credential_missing sandbox_violation hook_blocked
  permission_denied approval_rejected policy_blocked canceled sibling_canceled timeout rate_limited
  dependency_unavailable execution_failed partial_failure result_too_large result_redacted
  streaming_fallback_discarded`);

const EVENT_TYPES = listValues(`tool.declared tool.surface.created tool.surface.updated
  tool.deferred.discovered tool.deferred.loaded tool.invocation.planned tool.invocation.selected
  tool.invocation.arguments_ready tool.invocation.validation_failed tool.invocation.queued
  tool.invocation.started tool.invocation.progress tool.invocation.partial_result
  tool.invocation.yielded tool.invocation.succeeded tool.invocation.failed tool.invocation.canceled
  tool.invocation.timed_out tool.hook.pre.started tool.hook.pre.completed tool.hook.post.started
  tool.hook.post.completed tool.permission.requested tool.permission.decided tool.result.created
  tool.result.persisted tool.result.redacted`);

const PROGRESS_STATUSES = listValues(`queued started running waiting_for_permission
  waiting_for_input backgrounded partial_result completed failed canceled`);

const TOOL_KINDS = listValues(`function mcp_tool openapi_operation native_tool browser_action
  shell_command code_execution file_operation web_search retrieval model_task skill_tool
  peer_agent_tool policy_check artifact_operation evidence_export custom`);

const EXECUTION_KINDS = listValues(`mcp_server http_api native_app local_process shell browser
  model_service peer_agent embedded_runtime hybrid`);

const REASON_TYPES = listValues(`rule mode policy hook classifier working_dir sandbox_override
  safety_check permission_prompt_tool async_agent subcommand_results other`);

const RULE_SOURCES = listValues(`user_settings project_settings local_settings flag_settings
  policy_settings cli_arg command session`);

const SURFACE_SCOPES = listValues(
  "turn task session tenant skill peer_agent workspace role model_request",
);

const KNOWN_VALUES: Readonly<Record<string, Readonly<Record<string, ReadonlySet<unknown>>>>> = {
  tool_declaration: { tool_kind: TOOL_KINDS },
  tool_surface: { scope: SURFACE_SCOPES },
  tool_execution_profile: { execution_kind: EXECUTION_KINDS },
  tool_invocation: { status: INVOCATION_STATUSES },
  tool_permission_decision: { "reason.type": REASON_TYPES, source: RULE_SOURCES },
  tool_progress: { status: PROGRESS_STATUSES },
  tool_result: { status: RESULT_STATUSES, "error.error_class": ERROR_CLASSES },
  tool_event: { event_type: EVENT_TYPES },
};

function listValues(words: string): ReadonlySet<unknown> {
  return new Set(words.split(/\s+/u));
}

function readField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
