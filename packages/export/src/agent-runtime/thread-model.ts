// The current state of one thread: its turns, calls, open requests, children and outputs.

import type { AgentRuntimeEvent } from "./event.ts";
import { readNumber, readRecord, readText } from "../projection/read-fields.ts";
import { Recent } from "./recent.ts";
import {
  createAction,
  createCall,
  createIncident,
  createSubagent,
  createTurn,
  isIncident,
  type ActionState,
  type CallState,
  type Incident,
  type SubagentState,
  type ThreadSnapshot,
  type ThreadStatus,
  type TurnState,
} from "./thread-state.ts";

export class ThreadModel {
  readonly threadId: string;
  readonly #turns: Recent<TurnState>;
  readonly #calls: Recent<CallState>;
  readonly #actions: Recent<ActionState>;
  readonly #subagents: Recent<SubagentState>;
  readonly #outputs: Recent<object>;
  readonly #incidents: Recent<Incident>;
  readonly #decisions = { allow: 0, deny: 0, ask: 0, sandboxed: 0, unavailable: 0 };
  readonly #tokens = { inputTokens: 0, outputTokens: 0, requests: 0 };
  /** In millionths, by currency. */
  readonly #costs = new Map<string, number>();
  #mode: string | undefined = undefined;
  #sandboxProfile: object | undefined = undefined;
  #violations = 0;
  #routing: object | undefined = undefined;
  #limit: object | undefined = undefined;
  #compactions = 0;
  #boundary: object | undefined = undefined;

  constructor(threadId: string, recent: number) {
    this.threadId = threadId;
    this.#turns = new Recent(recent);
    this.#calls = new Recent(recent);
    this.#actions = new Recent(recent);
    this.#subagents = new Recent(recent);
    this.#outputs = new Recent(recent);
    this.#incidents = new Recent(recent);
  }

  take(event: AgentRuntimeEvent): void {
    const family = event.type.slice(0, event.type.indexOf("."));
    if (isIncident(event)) {
      this.#incidents.open(event.eventId, createIncident(event));
      this.#incidents.end(event.eventId);
    }
    switch (family) {
      case "turn":
        return this.#takeTurn(event);
      case "tool":
        return this.#takeCall(event);
      case "permission":
        return this.#takeDecision(event);
      case "action":
        return this.#takeAction(event);
      case "subagent":
        return this.#takeSubagent(event);
      case "artifact":
        return this.#takeOutput(event);
      default:
        return this.#takeState(event);
    }
  }

  #takeTurn(event: AgentRuntimeEvent): void {
    const { type, turnId, timestamp, taskId, status = "unknown" } = event;
    if (turnId === undefined) return;
    const turn = this.#turns.find(turnId) ?? this.#turns.open(turnId, createTurn(turnId));
    turn.status = type === "turn.submitted" && status === "accepted" ? "preparing" : status;
    turn.taskId = taskId ?? turn.taskId;
    turn.statusReason = event.statusReason;
    if (type === "turn.started") {
      turn.startedAt = timestamp;
      this.#mode = readText(readRecord(event.payload)["mode"]) ?? this.#mode;
    }
    if (type !== "turn.completed" && type !== "turn.failed") return;
    turn.completedAt = timestamp;
    turn.costState = event.costState;
    this.#turns.end(turnId);
  }

  #takeCall(event: AgentRuntimeEvent): void {
    const { type, toolCallId, timestamp, status = "unknown" } = event;
    if (toolCallId === undefined || type === "tool.args") return;
    const call =
      this.#calls.find(toolCallId) ?? this.#calls.open(toolCallId, createCall(event, toolCallId));
    call.status = status;
    call.nativeStatus = event.nativeStatus ?? call.nativeStatus;
    if (type === "tool.progress" && status === "running") call.startedAt ??= timestamp;
    if (type !== "tool.result" && type !== "tool.failed") return;
    call.endedAt = timestamp;
    call.preview = readText(readRecord(event.payload)["preview"]);
    call.artifactIds = event.refs?.artifactIds;
    this.#calls.end(toolCallId);
  }

  #takeDecision({ toolCallId, permissionDecision }: AgentRuntimeEvent): void {
    if (permissionDecision === undefined) return;
    const { decision, decisionSource } = permissionDecision;
    this.#decisions[decision] += 1;
    const call = toolCallId === undefined ? undefined : this.#calls.find(toolCallId);
    if (call === undefined) return;
    call.decision = decision;
    call.decisionSource = decisionSource;
  }

  #takeAction(event: AgentRuntimeEvent): void {
    const { type, actionId, timestamp, status = "unknown" } = event;
    if (actionId === undefined) return;
    const action =
      this.#actions.find(actionId) ?? this.#actions.open(actionId, createAction(event, actionId));
    action.status = status;
    if (type !== "action.resolved") return;
    action.resolvedAt = timestamp;
    action.decision = readText(readRecord(event.payload)["decision"]);
    this.#actions.end(actionId);
  }

  #takeSubagent(event: AgentRuntimeEvent): void {
    const { type, subagentId, timestamp, status = "unknown" } = event;
    if (subagentId === undefined) return;
    const subagent =
      this.#subagents.find(subagentId) ??
      this.#subagents.open(subagentId, createSubagent(event, subagentId));
    subagent.status = status;
    subagent.statusReason = event.statusReason;
    if (type === "subagent.spawned" || type === "subagent.status") return;
    subagent.endedAt = timestamp;
    this.#subagents.end(subagentId);
  }

  #takeOutput({
    artifactId,
    turnId,
    toolCallId,
    outputRef,
    payload,
    timestamp,
  }: AgentRuntimeEvent) {
    if (artifactId === undefined) return;
    const { mediaType, size, sha256, name } = readRecord(payload);
    const output = { artifactId, outputRef, turnId, toolCallId, mediaType, size, sha256, name };
    this.#outputs.open(artifactId, { createdAt: timestamp, ...output });
    this.#outputs.end(artifactId);
  }

  #takeState(event: AgentRuntimeEvent): void {
    const turn = event.turnId === undefined ? undefined : this.#turns.find(event.turnId);
    switch (event.type) {
      case "routing.decided":
      case "routing.fallback.applied":
        this.#routing = event.routingDecision;
        if (turn !== undefined) turn.routingDecision = event.routingDecision;
        return undefined;
      case "rate_limit.hit":
      case "quota.blocked":
        this.#limit = event.limitEvent;
        return undefined;
      case "sandbox.applied":
        this.#sandboxProfile = event.sandboxProfile;
        return undefined;
      case "sandbox.violation":
        this.#violations += 1;
        return undefined;
      case "model.completed":
      case "model.failed":
        return this.#addUsage(readRecord(event.payload)["usage"]);
      case "cost.recorded":
        return this.#addCost(event.costState);
      case "context.compaction.completed":
        this.#compactions += 1;
        this.#boundary = event.historyBoundary;
        return undefined;
      default:
        return undefined;
    }
  }

  #addUsage(value: unknown): void {
    const usage = readRecord(value);
    this.#tokens.inputTokens += readNumber(usage["inputTokens"]) ?? 0;
    this.#tokens.outputTokens += readNumber(usage["outputTokens"]) ?? 0;
    this.#tokens.requests += 1;
  }

  #addCost(value: unknown): void {
    const { amountMicros, currency } = readRecord(value);
    const name = readText(currency) ?? "unknown";
    this.#costs.set(name, (this.#costs.get(name) ?? 0) + (readNumber(amountMicros) ?? 0));
  }

  get #status(): ThreadStatus {
    const open = [...this.#turns.openItems];
    if (open.length === 0) return readOutcome(this.#turns.last?.status);
    if (open.some(({ status }) => status !== "queued")) {
      const [waiting] = this.#actions.openItems;
      return waiting === undefined ? "running" : "blocked";
    }
    return "queued";
  }

  describe(): ThreadSnapshot {
    const open = [...this.#turns.openItems];
    const pending = Array.from(this.#actions.openItems, (action) => ({ ...action }));
    const cost = Array.from(this.#costs, ([currency, micros]) => ({ currency, micros }));
    return {
      threadId: this.threadId,
      status: this.#status,
      activeTurnId: open.find(({ status }) => status !== "queued")?.turnId,
      turns: this.#turns.list().map((turn) => ({ ...turn })),
      pendingRequests: pending,
      queuedTurns: open.flatMap(({ turnId, status }) =>
        status === "queued" ? [{ turnId, status }] : [],
      ),
      incidents: this.#incidents.list(),
      actions: this.#actions.list().map((action) => ({ ...action })),
      toolCalls: this.#calls.list().map((call) => ({ ...call })),
      permissionState: {
        mode: this.#mode ?? "unknown",
        decisions: { ...this.#decisions },
        pendingActionIds: pending.map(({ actionId }) => actionId),
      },
      sandboxState: {
        status: this.#sandboxProfile === undefined ? "not_applicable" : "applied",
        profile: this.#sandboxProfile,
        violations: this.#violations,
      },
      modelRouting: this.#routing ?? { status: "not_applicable" },
      limitState: this.#limit ?? { status: "not_applicable" },
      costState: { ...this.#tokens, cost: cost.length === 0 ? null : cost },
      subagents: this.#subagents.list().map((subagent) => ({ ...subagent })),
      outputs: this.#outputs.list(),
      history: {
        compactions: this.#compactions,
        lastBoundary: this.#boundary,
        turnsOmitted: this.#turns.omitted,
        toolCallsOmitted: this.#calls.omitted,
      },
      evidenceSummary: { evidenceRefs: [], status: "not_applicable" },
    };
  }
}

function readOutcome(status: string | undefined): ThreadStatus {
  if (status === undefined) return "idle";
  return status === "completed" || status === "failed" || status === "cancelled"
    ? status
    : "unknown";
}
