// One call as the journal has it: what was decided about it, and what the outside said meanwhile (its guards, the user
// who was asked, its own code). A replay decides again, and reads the rest from here.

import {
  isTerminalFact,
  type Fact,
  type FactData,
  type HookAnswers,
  type HookEvent,
  type JsonObject,
  type Plan,
  type TerminalFactType,
  type ToolError,
  type ToolResult,
  type ToolStatus,
} from "@soong/core";
import { ARGUMENTS_NAME } from "@soong/core/internal";
import { isJsonObject, omitUndefined } from "@soong/schema";

export class RecordedCall {
  readonly id: string;
  readonly requested: Fact<"tool.requested">;
  validated?: Fact<"tool.validated">;
  queued?: Fact<"tool.queued">;
  /** The first sign that the scheduler had let it begin. */
  begun?: Fact;
  /** The judgement of what its last input names. Older records have one judgement only, of the plan. */
  judged?: Fact<"permission.evaluated">;
  /** The seq of the first of all. */
  firstJudged?: number;
  /** The judgement that counted. */
  evaluated?: Fact<"permission.evaluated">;
  resolved?: Fact<"permission.resolved">;
  started?: Fact<"tool.started">;
  ended?: Fact<TerminalFactType>;
  grant_id?: string;
  /** It ended before its end was recorded: after which fact, and as which of its turn. */
  parked?: { readonly after: number; readonly nth: number };
  /** The artifact that holds its arguments, where they are long. */
  kept_as?: string;
  /** What code of the tool made of each input it was given; the first is the model's. */
  readonly admissions: { mutatedTo?: JsonObject }[] = [{}];
  readonly guards: Said<HookAnswers["PreToolUse"]>[] = [];
  /** Hooks ran after it, and before its end. */
  observed?: boolean;
  readonly permissionGuards: Said<HookAnswers["PermissionRequest"]>[] = [];

  constructor(id: string, requested: Fact<"tool.requested">) {
    this.id = id;
    this.requested = requested;
  }

  get result(): ToolResult | undefined {
    return this.ended?.data.result;
  }

  get error(): ToolError | undefined {
    return this.result?.error;
  }

  /** How it had ended on its own, also where it was discarded with its answer after that. */
  get ownStatus(): ToolStatus | undefined {
    return this.result?.metadata?.discarded_status ?? this.result?.status;
  }

  /** What it names, not its guards nor its judge, is what ended it. In older records: its plan. */
  get failedBeforeJudgement(): boolean {
    const wasRefused = this.guards.some(({ answer }) => answer.decision === "deny" || answer.stop);
    const isJudged = this.queued === undefined || this.evaluated !== undefined;
    return !isJudged && !wasRefused && this.ownStatus === "failed";
  }

  /** It was judged, and then it could not be planned. */
  get failedToPlan(): boolean {
    const isPlanned = this.evaluated?.data.stage !== undefined && this.started === undefined;
    const isOther = NOT_OF_ITS_PLAN.has(this.error?.code ?? "");
    return isPlanned && this.ownStatus === "failed" && !isOther;
  }

  /** Its start was recorded, and its attempt abandoned before its handler was called: what runs and may write is not. */
  get neverCalled(): boolean {
    const { status, metadata } = this.result ?? {};
    const isDiscarded = status === "discarded" && metadata?.discarded_status === undefined;
    const { started } = this;
    return isDiscarded && started !== undefined && started.data.effects?.repeatable !== true;
  }

  /** Something from outside ended it, or the record does, before it started. */
  get stoppedBeforeStart(): boolean {
    const status = this.ownStatus;
    const isStopped = status === undefined || status === "skipped" || endedFromOutside(status);
    return isStopped && this.started === undefined;
  }

  /** Its tool changed, or went, under the model. */
  get wentStale(): boolean {
    return this.error?.code === "tool_definition_changed";
  }
}

const NOT_OF_ITS_PLAN: ReadonlySet<string> = new Set([
  "changed_since_approval",
  "child_agent_limit_exceeded",
  "tool_definition_changed",
]);

/** An answer, and the seq of the fact by which it was there. */
export interface Said<Answer> {
  readonly by: number;
  readonly answer: Answer;
}

export function readRecordedCalls(segment: readonly Fact[]): Map<string, RecordedCall> {
  const calls = new Map<string, RecordedCall>();
  const guardedBy = new Map<string, number>();
  for (const fact of segment) {
    const { tool_call_id: id } = fact;
    if (id === undefined) continue;
    if (fact.type === "tool.requested") calls.set(id, new RecordedCall(id, fact));
    const call = calls.get(id);
    if (call !== undefined) applyFact(call, fact, guardedBy);
  }
  return calls;
}

function applyFact(call: RecordedCall, fact: Fact, guardedBy: Map<string, number>): void {
  const { type, seq, data } = fact;
  const by = guardedBy.get(call.id) ?? 0;
  if (type === "tool.validated") call.validated = fact;
  else if (type === "tool.queued") call.queued = fact;
  else if (type === "permission.resolved") call.resolved = fact;
  else if (type === "tool.started") call.started = fact;
  else if (type === "artifact.created") {
    if (data.name === ARGUMENTS_NAME) call.kept_as ??= data.artifact_id;
  } else if (type === "grant.created") {
    call.grant_id = data.grant.grant_id;
  } else if (type === "hook.started") {
    if (data.event === "PreToolUse") call.begun ??= fact;
    if (isObserverEvent(data.event)) call.observed = true;
  } else if (type === "hook.completed" || type === "hook.failed") {
    if (isGuardEvent(data.event)) guardedBy.set(call.id, seq);
    if (data.event === "PermissionRequest") call.permissionGuards.push({ by: seq, answer: {} });
  } else if (type === "hook.denied") takeDenial(call, data, by);
  else if (type === "input.mutated") takeMutation(call, data, by);
  else if (type === "permission.evaluated") {
    call.begun ??= fact;
    call.evaluated = fact;
    call.firstJudged ??= seq;
    if (call.judged !== undefined) return;
    call.judged = fact;
    // One that was answered without it did not count.
    const asked = data.chain.find(
      ({ layer, verdict }) => layer === "hook" && verdict !== "no_opinion",
    );
    if (asked !== undefined || by > 0) {
      const answer =
        asked === undefined ? {} : ({ decision: "ask", reason: asked.reason } as const);
      call.guards.push({ by, answer });
    }
  } else if (isTerminalFact(fact)) {
    call.ended = fact;
    const { ended } = fact.data;
    if (ended !== undefined) call.parked = ended;
  }
}

export function isObserverEvent(event: HookEvent): boolean {
  return event === "PostToolUse" || event === "PostToolUseFailure";
}

function isGuardEvent(event: HookEvent): boolean {
  return event === "PreToolUse" || event === "PermissionRequest";
}

function takeDenial(call: RecordedCall, data: FactData<"hook.denied">, by: number): void {
  const { reason } = data;
  if (call.evaluated !== undefined) {
    call.permissionGuards.push({ by, answer: { decision: "deny", reason } });
    return;
  }
  const stop = readStop(data);
  call.guards.push({ by, answer: stop === undefined ? { decision: "deny", reason } : { stop } });
}

/** Why its hook ended the run, where it did. Records of earlier versions say it in the reason only. */
export function readStop({ hook, reason, stop }: FactData<"hook.denied">): string | undefined {
  const prefix = `the hook "${hook}" ended the run: `;
  return stop ?? (reason.startsWith(prefix) ? reason.slice(prefix.length) : undefined);
}

function takeMutation(call: RecordedCall, data: FactData<"input.mutated">, by: number): void {
  const { source, observable_input: input } = data;
  if (!isJsonObject(input)) return;
  if (source.startsWith("hook:")) {
    call.guards.push({ by, answer: { input } });
    call.admissions.push({});
    delete call.judged;
  } else {
    const last = call.admissions.at(-1);
    if (last !== undefined) last.mutatedTo = input;
  }
}

/** What a judgement was made on. What the user was shown of it, and what was there before, decides nothing. */
export function toPlan(judgement: RecordedCall["judged"]): Plan {
  const { resources = [], planned_destructive, effects } = judgement?.data ?? {};
  const destructive = planned_destructive ?? effects?.destructive;
  return { resources: [...resources], ...omitUndefined({ destructive }) };
}

/** The driver of its turn, or a sibling, ended it: what it returned no longer counted. */
export function endedFromOutside(status: ToolStatus | undefined): boolean {
  return status === "aborted" || status === "cancelled" || status === "discarded";
}
