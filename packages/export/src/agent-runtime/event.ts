// An event of Agent Runtime, as its public core and its Lime profile have it.

/** The closed list of the standard. */
export const AGENT_RUNTIME_EVENT_TYPES = [
  "session.created",
  "session.updated",
  "thread.started",
  "thread.updated",
  "turn.submitted",
  "turn.started",
  "turn.completed",
  "turn.failed",
  "task.created",
  "task.accepted",
  "task.queued",
  "task.started",
  "task.updated",
  "task.progress",
  "task.waiting",
  "task.blocked",
  "task.paused",
  "task.resumed",
  "task.retrying",
  "task.cancel_requested",
  "task.cancelled",
  "task.timed_out",
  "task.failed",
  "task.lost",
  "task.completed",
  "task.archived",
  "run.status",
  "model.requested",
  "model.delta",
  "model.completed",
  "model.failed",
  "reasoning.delta",
  "reasoning.summary",
  "tool.catalog.resolved",
  "tool.started",
  "tool.args",
  "tool.progress",
  "tool.result",
  "tool.failed",
  "action.required",
  "action.resolved",
  "queue.changed",
  "context.resolved",
  "context.compaction.started",
  "context.compaction.completed",
  "context.compaction.failed",
  "artifact.changed",
  "evidence.changed",
  "subagent.spawned",
  "subagent.status",
  "subagent.input",
  "subagent.completed",
  "subagent.failed",
  "subagent.closed",
  "limit.changed",
  "snapshot.updated",
  "runtime.warning",
  "runtime.error",
  "permission.evaluated",
  "permission.requested",
  "permission.resolved",
  "sandbox.applied",
  "sandbox.violation",
  "hook.started",
  "hook.completed",
  "hook.failed",
  "policy.changed",
  "process.started",
  "process.output",
  "process.input",
  "process.completed",
  "process.failed",
  "process.terminated",
  "task.profile.resolved",
  "routing.candidates.resolved",
  "routing.decided",
  "routing.fallback.applied",
  "routing.not_possible",
  "routing.single_candidate",
  "task.delegated",
  "task.dependency.updated",
  "task.attempt.started",
  "task.attempt.completed",
  "task.attempt.failed",
  "cost.estimated",
  "cost.recorded",
  "rate_limit.hit",
  "quota.low",
  "quota.blocked",
  "channel.connected",
  "channel.disconnected",
  "channel.resumed",
  "channel.message",
  "channel.permission_forwarded",
  "channel.permission_returned",
  "job.created",
  "job.started",
  "job.progress",
  "job.item.started",
  "job.item.completed",
  "job.item.failed",
  "job.completed",
  "job.failed",
  "job.cancelled",
  "output.spilled",
  "output.truncated",
  "output.redacted",
  "output.expired",
  "history.window.loaded",
  "history.reconstructed",
  "history.rollback.started",
  "history.rollback.completed",
  "snapshot.repaired",
  "benchmark.dataset.resolved",
  "benchmark.configuration.resolved",
  "benchmark.trial.started",
  "benchmark.trial.completed",
  "benchmark.trial.failed",
  "benchmark.reward.recorded",
  "benchmark.comparison.completed",
] as const;

export type AgentRuntimeEventType = (typeof AGENT_RUNTIME_EVENT_TYPES)[number];

export type AgentRuntimeProfile = "core" | "lime";

/** What an event is about. Fields that do not apply are undefined, and absent in JSON. */
export interface AgentRuntimeEvent extends EventDetails {
  readonly type: AgentRuntimeEventType;
  /** `<session>/<fact>/<type>`, with a number where a fact has several events of one type. */
  readonly eventId: string;
  readonly timestamp: string;
  readonly schemaVersion: string;
  readonly runtimeId: string;
  /** Rises: the `seq` of the fact times 1 000 000, plus the place of the event among those of the fact. */
  readonly sequence: number;
  readonly sessionId: string | undefined;
}

export interface EventDetails {
  /** The agent. */
  readonly threadId?: string | undefined;
  /** The run. */
  readonly turnId?: string | undefined;
  /** The run that makes an attempt at a task, or the run itself. */
  readonly runId?: string | undefined;
  readonly stepId?: string | undefined;
  /** Agent Tool's `invocation_id`. */
  readonly toolCallId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly parentTaskId?: string | undefined;
  readonly rootTaskId?: string | undefined;
  readonly attemptId?: string | undefined;
  readonly actionId?: string | undefined;
  readonly subagentId?: string | undefined;
  readonly artifactId?: string | undefined;
  readonly modelRequestId?: string | undefined;
  readonly outputRef?: string | undefined;
  readonly status?: string | undefined;
  readonly nativeStatus?: string | undefined;
  readonly statusReason?: string | undefined;
  readonly phase?: string | undefined;
  readonly permissionDecision?: PermissionDecision | undefined;
  readonly sandboxProfile?: object | undefined;
  readonly hookRun?: object | undefined;
  readonly routingDecision?: object | undefined;
  readonly candidateModelSet?: object | undefined;
  readonly costState?: object | undefined;
  readonly limitEvent?: object | undefined;
  readonly task?: object | undefined;
  readonly taskAttempt?: object | undefined;
  readonly worker?: object | undefined;
  readonly output?: object | undefined;
  readonly historyBoundary?: object | undefined;
  readonly refs?: EventRefs | undefined;
  readonly payload?: object | undefined;
}

export interface PermissionDecision {
  readonly decision: "allow" | "deny" | "ask" | "sandboxed" | "unavailable";
  readonly decisionSource?: string | undefined;
  readonly decisionReason?: string | undefined;
  readonly ruleRefs?: readonly string[] | undefined;
  readonly approvalActionId?: string | undefined;
  readonly scope?: string | undefined;
  readonly grantId?: string | undefined;
}

/** Each names something that the events of the same session introduce. */
export interface EventRefs {
  readonly artifactIds?: readonly string[] | undefined;
  /** The event of the decision that a call runs by. */
  readonly decisionEventId?: string | undefined;
}

/** In place of an id that a fact lacks and the Lime profile requires, as that profile asks. */
export const UNAVAILABLE = "unavailable";
