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
import { omitUndefined } from "@soong/schema";
import { findDecisive, type LiveCall } from "./live-call.ts";
import { getRecordedError, getRecordedResult } from "./recorded-call.ts";

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
    this.divergence = {
      stage,
      seq,
      ...omitUndefined({ tool_call_id, tool_name }),
      recorded,
      now,
    };
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
  throw new Diverged(
    requested,
    "name",
    `means ${tool_name}`,
    `means ${call.tool_name ?? "nothing"}`,
  );
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
  const was = getRecordedResult(call.recorded);
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
    throw new Diverged(
      fact,
      "result",
      "the text that is recorded",
      "another text of the same result",
    );
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
    getRecordedError(recorded)?.code.startsWith("arguments_") === true
  );
}

function describeResult({ status, error }: ToolResult): string {
  return error === undefined ? status : `${status} (${error.code})`;
}

export function describeEnding({ result }: LiveCall): string {
  return result === undefined ? "it has not come to that" : describeResult(result);
}
