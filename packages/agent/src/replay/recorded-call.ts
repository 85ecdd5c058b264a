// One call as the journal has it: what was decided about it, and what the outside said meanwhile (its guards, the person
// who was asked, its own code). A replay decides again, and is told the rest from here.

import {
  ARGUMENTS_NAME,
  isTerminalFact,
  type ChainEntry,
  type Effects,
  type Fact,
  type HookAnswers,
  type JsonObject,
  type Plan,
  type Resource,
  type ToolError,
  type ToolResult,
} from "@soong/core";
import { isObject, textIn } from "./recorded-run.ts";

export interface RecordedCall {
  readonly id: string;
  readonly requested: Fact;
  validated?: Fact;
  queued?: Fact;
  /** The first sign that the scheduler had let it begin. */
  begun?: Fact;
  /** The judgement of what its last input names. Older records have one judgement only, of the plan. */
  judged?: Fact;
  /** The seq of the first of all. */
  firstJudged?: number;
  /** The judgement that counted. */
  evaluated?: Fact;
  resolved?: Fact;
  started?: Fact;
  ended?: Fact;
  grant_id?: string;
  /** The artifact that holds its arguments, where they are long. */
  kept_as?: string;
  /** What code of the tool made of each input it was given; the first is the model's. */
  readonly admissions: { mutatedTo?: JsonObject }[];
  readonly guards: Said<HookAnswers["PreToolUse"]>[];
  readonly permissionGuards: Said<HookAnswers["PermissionRequest"]>[];
}

/** An answer, and the seq of the fact by which it was there. */
export interface Said<Answer> {
  readonly by: number;
  readonly answer: Answer;
}

export function recordedCalls(segment: readonly Fact[]): Map<string, RecordedCall> {
  const calls = new Map<string, RecordedCall>();
  const guardedBy = new Map<string, number>();
  for (const fact of segment) {
    const { type, tool_call_id: id } = fact;
    if (id === undefined) continue;
    if (type === "tool.requested") calls.set(id, newCall(id, fact));
    const call = calls.get(id);
    if (call !== undefined) take(call, fact, guardedBy);
  }
  return calls;
}

function newCall(id: string, requested: Fact): RecordedCall {
  return { id, requested, admissions: [{}], guards: [], permissionGuards: [] };
}

function take(call: RecordedCall, fact: Fact, guardedBy: Map<string, number>): void {
  const { type, seq } = fact;
  const data = fact.data as JsonObject;
  const by = guardedBy.get(call.id) ?? 0;
  if (type === "tool.validated") call.validated = fact;
  else if (type === "tool.queued") call.queued = fact;
  else if (type === "permission.resolved") call.resolved = fact;
  else if (type === "tool.started") call.started = fact;
  else if (type === "artifact.created") {
    if (data["name"] === ARGUMENTS_NAME) call.kept_as ??= textIn(data, "artifact_id");
  } else if (type === "grant.created") {
    const { grant } = data as { grant?: { grant_id?: string } };
    if (grant?.grant_id !== undefined) call.grant_id = grant.grant_id;
  } else if (type === "hook.started") {
    if (data["event"] === "PreToolUse") call.begun ??= fact;
  } else if (type === "hook.completed" || type === "hook.failed") {
    if (isGuardEvent(data["event"])) guardedBy.set(call.id, seq);
    if (data["event"] === "PermissionRequest") call.permissionGuards.push({ by: seq, answer: {} });
  } else if (type === "hook.denied") takeDenial(call, data, by);
  else if (type === "input.mutated") takeMutation(call, data, by);
  else if (type === "permission.evaluated") {
    call.begun ??= fact;
    call.evaluated = fact;
    call.firstJudged ??= seq;
    if (call.judged !== undefined) return;
    call.judged = fact;
    const asked = chainOf(fact).find(({ layer }) => layer === "hook");
    if (asked !== undefined || by > 0) {
      const answer =
        asked === undefined ? {} : ({ decision: "ask", reason: asked.reason } as const);
      call.guards.push({ by, answer });
    }
  } else if (isTerminalFact(type)) call.ended = fact;
}

function isGuardEvent(event: unknown): boolean {
  return event === "PreToolUse" || event === "PermissionRequest";
}

function takeDenial(call: RecordedCall, data: JsonObject, by: number): void {
  const why = textIn(data, "reason");
  if (call.evaluated !== undefined) {
    call.permissionGuards.push({ by, answer: { decision: "deny", reason: why } });
    return;
  }
  const stops = `the hook "${textIn(data, "hook")}" ended the run: `;
  const answer = why.startsWith(stops)
    ? { stop: why.slice(stops.length) }
    : ({ decision: "deny", reason: why } as const);
  call.guards.push({ by, answer });
}

function takeMutation(call: RecordedCall, data: JsonObject, by: number): void {
  const { source, observable_input: input } = data;
  if (!isObject(input)) return;
  if (typeof source === "string" && source.startsWith("hook:")) {
    call.guards.push({ by, answer: { input } });
    call.admissions.push({});
    delete call.judged;
  } else {
    const last = call.admissions.at(-1);
    if (last !== undefined) last.mutatedTo = input;
  }
}

export function chainOf({ data }: Fact): readonly ChainEntry[] {
  const { chain } = data as { chain?: unknown };
  return Array.isArray(chain) ? (chain as ChainEntry[]) : [];
}

export function resultOf(call: RecordedCall): ToolResult | undefined {
  const { result } = (call.ended?.data ?? {}) as { result?: unknown };
  return isObject(result) ? (result as unknown as ToolResult) : undefined;
}

export function errorOf(call: RecordedCall): ToolError | undefined {
  return resultOf(call)?.error;
}

export function effectsOf(fact: Fact | undefined): Effects | undefined {
  const { effects } = (fact?.data ?? {}) as { effects?: unknown };
  return isObject(effects) ? (effects as unknown as Effects) : undefined;
}

/** What a judgement was made on. What a person was shown of it, and what was there before, decides nothing. */
export function planOf(judgement: Fact | undefined): Plan {
  const data = (judgement?.data ?? {}) as JsonObject;
  const { resources, planned_destructive } = data;
  const destructive = planned_destructive ?? effectsOf(judgement)?.destructive;
  return {
    resources: Array.isArray(resources) ? (resources as unknown as Resource[]) : [],
    ...(typeof destructive === "boolean" ? { destructive } : {}),
  };
}

/** What it names, not its guards nor its judge, is what ended it. In older records: its plan. */
export function failedBeforeJudgement(call: RecordedCall): boolean {
  const { guards, queued, evaluated } = call;
  const wasRefused = guards.some(({ answer }) => answer.decision === "deny" || answer.stop);
  const status = resultOf(call)?.status;
  return queued !== undefined && evaluated === undefined && !wasRefused && status === "failed";
}

/** It was judged, and then it could not be planned. */
export function failedToPlan(call: RecordedCall): boolean {
  const { evaluated, started } = call;
  const isPlanned = (evaluated?.data as { stage?: unknown } | undefined)?.stage !== undefined;
  const { status, error } = resultOf(call) ?? {};
  const isOther = NOT_OF_ITS_PLAN.has(error?.code ?? "");
  return isPlanned && started === undefined && status === "failed" && !isOther;
}

const NOT_OF_ITS_PLAN: ReadonlySet<string> = new Set([
  "changed_since_approval",
  "child_agent_limit_exceeded",
  "tool_definition_changed",
]);

/** Its tool changed, or went, under the model. */
export function wentStale(call: RecordedCall): boolean {
  return errorOf(call)?.code === "tool_definition_changed";
}

/** Whoever drove its turn, or a sibling, ended it: what it returned counted no more. */
export function endedFromOutside({ status }: ToolResult): boolean {
  return status === "aborted" || status === "cancelled" || status === "discarded";
}
