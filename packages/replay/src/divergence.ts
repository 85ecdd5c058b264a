// The first decision that is another one now (REPLAY-1): which call, which stage, what was recorded and what would be.

import {
  canonicalJson,
  SEARCH_TOOLS,
  type CatalogEntry,
  type Fact,
  type TerminalFactType,
  type ToolResult,
} from "@soong/core";
import { entriesIn, readCallClass } from "@soong/core/internal";
import { findDecisive, type LiveCall, type Piece } from "./live-call.ts";
import type { RecordedCall } from "./recorded-call.ts";

export type ReplayStage =
  | "surface"
  | "name"
  | "validation"
  | "classification"
  | "permission"
  | "schedule"
  | "result";

export interface Divergence {
  readonly stage: ReplayStage;
  /** The recorded fact that holds the decision. */
  readonly seq: number;
  readonly tool_call_id?: string;
  readonly tool_name?: string;
  readonly recorded: string;
  readonly now: string;
}

/** Ends a replay. */
export class Diverged extends Error {
  readonly divergence: Divergence;

  constructor(fact: Fact, stage: ReplayStage, recorded: string, now: string) {
    super(`${stage} of fact ${fact.seq}`);
    const { seq, tool_call_id, tool_name } = fact;
    this.divergence = { stage, seq, tool_call_id, tool_name, recorded, now };
  }
}

export function compareSurface(recorded: Catalog, now: Catalog | undefined): void {
  if (now === undefined) {
    const { revision } = recorded.data;
    throw new Diverged(recorded, "surface", `the surface became revision ${revision}`, "it stays");
  }
  const before = new Map(entriesIn(recorded.data).map((entry) => [entry.tool_name, entry]));
  const after = new Map(entriesIn(now.data).map((entry) => [entry.tool_name, entry]));
  for (const name of [...new Set([...before.keys(), ...after.keys()])].toSorted()) {
    const was = describeStanding(before.get(name));
    const is = describeStanding(after.get(name));
    if (was !== is) throw new Diverged(recorded, "surface", `${name}: ${was}`, `${name}: ${is}`);
  }
  const order = ({ data }: Catalog): string =>
    entriesIn(data)
      .filter(({ state }) => state === "loaded")
      .map(({ tool_name }) => tool_name)
      .join(", ");
  if (order(recorded) !== order(now)) {
    throw new Diverged(recorded, "surface", `loaded ${order(recorded)}`, `loaded ${order(now)}`);
  }
}

type Catalog = Fact<"tool.catalog.resolved">;

function describeStanding(entry: CatalogEntry | undefined): string {
  if (entry === undefined) return "not mentioned";
  const { state, reason, policy } = entry;
  return reason === undefined ? `${state}, ${policy}` : `${state} (${reason}), ${policy}`;
}

/** Null: the fact of this stage is not there now. */
export function compareName(call: LiveCall): void {
  const { requested } = call.recorded;
  const { tool_name = "" } = requested;
  if (call.tool_name === tool_name) return;
  const now = `means ${call.tool_name ?? "nothing"}`;
  throw new Diverged(requested, "name", `means ${tool_name}`, now);
}

export function compareValidation(fact: Fact<"tool.validated">, call: LiveCall): void {
  if (call.validated === undefined) {
    throw new Diverged(fact, "validation", "the input was taken", describeEnding(call));
  }
  const was = canonicalJson(fact.data.effects);
  const is = canonicalJson(call.validated.data.effects);
  if (was !== is) throw new Diverged(fact, "classification", was, is);
}

export function compareClass(fact: Fact<"tool.queued">, call: LiveCall): void {
  const was = readCallClass(fact.data.class);
  if (was !== call.class) throw new Diverged(fact, "classification", was, call.class ?? "none");
}

export function comparePermission(fact: Judged, call: LiveCall): void {
  const was = describeJudgement(fact);
  const now = call.judgements[call.compared] ?? call.judgements.at(-1);
  call.compared += 1;
  const is = now === undefined ? describeEnding(call) : describeJudgement(now);
  if (was !== is) throw new Diverged(fact, "permission", was, is);
}

type Judged = Fact<"permission.evaluated">;

/** All guards are one here: of a guard's ask, that it was one. */
function describeJudgement({ data: { decision, chain } }: Judged): string {
  const decisive = findDecisive(chain);
  if (decisive === undefined) return decision;
  const rule = decisive.layer === "hook" ? "a hook" : decisive.rule;
  return `${decision} by ${decisive.layer}: ${rule}`;
}

export function compareResult(fact: Fact<TerminalFactType>, call: LiveCall): void {
  const was = call.recorded.result;
  const { result: is } = call;
  if (was === undefined) return;
  if (is === undefined) throw new Diverged(fact, "result", describeResult(was), "it has not ended");
  const sameStatus =
    was.status === is.status || (was.status === "timed_out" && is.status === "failed");
  const wrote = wasNoText(call) || was.error?.code === is.error?.code;
  if (!sameStatus || !wrote)
    throw new Diverged(fact, "result", describeResult(was), describeResult(is));
  // What it returned was recorded without secrets: there is nothing more to hide in it (REDACT-1).
  const isReturned = call.recorded.started !== undefined && call.started;
  const isWhole = was.metadata.truncation === undefined && was.tool_name !== SEARCH_TOOLS;
  if (!isReturned || !isWhole || !RETURNED.has(was.status)) return;
  if (canonicalJson(was.content) !== canonicalJson(is.content)) {
    const now = "another text of the same result";
    throw new Diverged(fact, "result", "the text that is recorded", now);
  }
}

const RETURNED: ReadonlySet<string> = new Set(["succeeded", "partial", "failed"]);

/** Arguments that were no text, or too much of it: they are on record only in part. */
function wasNoText({ recorded }: LiveCall): boolean {
  const { model_input, model_input_chars, model_input_described } = recorded.requested.data;
  // Records of earlier versions mark it by the parenthesis only.
  const isMarked = typeof model_input === "string" && model_input.startsWith("(");
  const isPart = model_input_chars !== undefined && recorded.kept_as === undefined;
  return (
    (model_input_described === true || isMarked || isPart) &&
    recorded.error?.code.startsWith("arguments_") === true
  );
}

function describeResult({ status, error }: ToolResult): string {
  return error === undefined ? status : `${status} (${error.code})`;
}

export function describeEnding({ result }: LiveCall): string {
  return result === undefined ? "it has not come to that" : describeResult(result);
}

// When calls begin, held against the record (SCHED-2, 3, 5): one that waited must wait now, and one that began must not.

/** A barrier ran alone, and what may write waited for the end of the answer. */
export function beginsTooEarly(
  { calls, streaming }: Piece,
  call: LiveCall,
  earlyStart: string | undefined,
): Diverged | undefined {
  const { begun: first } = call.recorded;
  if (first === undefined) return undefined;
  const beside = [...calls.values()].find((other) => {
    const isRunning = other !== call && other.turn === call.turn && other.begun;
    const hadEnded = (other.recorded.ended?.seq ?? Number.POSITIVE_INFINITY) < first.seq;
    const isApart = isBarrier(other.recorded) || isBarrier(call.recorded);
    return isRunning && other.result === undefined && hadEnded && isApart;
  });
  if (beside !== undefined) {
    const name = describeCall(beside);
    return new Diverged(first, "schedule", `it waited for ${name}`, `it begins beside ${name}`);
  }
  const waited = streaming.get(call.turn);
  const mayBeEarly = earlyStart === "all" || !isWriting(call.recorded);
  if (waited === undefined || mayBeEarly || first.seq < waited) return undefined;
  return new Diverged(first, "schedule", "it waited for the end of the answer", "it begins before");
}

/** It began by this fact, and does not now. */
export function beginsTooLate({ calls }: Piece, call: LiveCall, fact: Fact): Diverged {
  const beside = [...calls.values()]
    .filter(({ turn, begun, result }) => turn === call.turn && begun && result === undefined)
    .map(describeCall)
    .join(", ");
  return beside === ""
    ? new Diverged(fact, "schedule", "it began", "it does not begin")
    : new Diverged(fact, "schedule", `it began beside ${beside}`, `it waits for ${beside}`);
}

function describeCall({ recorded: { id, requested } }: LiveCall): string {
  return `${requested.tool_name ?? ""} (${id})`;
}

/** What changed its class on its way began as the other. */
function isBarrier({ queued, started }: RecordedCall): boolean {
  const first = readClass(queued);
  const last = readClass(started) ?? first;
  return first === last && (first === "write" || first === "exclusive");
}

function isWriting({ queued }: RecordedCall): boolean {
  const first = readClass(queued);
  return first === "write" || first === "spawns_agent";
}

function readClass(fact: Fact<"tool.queued" | "tool.started"> | undefined) {
  const recorded = fact?.data.class;
  return recorded === undefined ? undefined : readCallClass(recorded);
}
