// All that is known of one call, put together from its facts and the node the model reads.

import { KERNEL_FACT_TEXTS, type ConversationNode, type Fact } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { CallStory, Lane } from "../wire/index.ts";
import { callDecisions } from "./call-decisions.ts";
import { callHooks } from "./call-hooks.ts";
import { callInputs } from "./call-inputs.ts";
import { callNotes } from "./call-notes.ts";
import { callArtifacts, callPreview, callResult } from "./call-result.ts";
import { oneLine } from "./one-line.ts";
import { childLink } from "./run-track.ts";
import { soundFact } from "./sound-fact.ts";
import type { CallChildren } from "./timeline.ts";

export interface CallStoryParts extends Partial<CallChildren> {
  readonly session_id: string;
  readonly lane: Lane;
  /** Every fact with its id, in order; those of calls of other runs with the same id are passed over. */
  readonly facts: readonly Fact[];
  /** Its `tool_result` node. */
  readonly node?: ConversationNode;
}

/** A command may report progress for hours: the last lines tell where it is. */
const MOST_PROGRESS = 200;
const MOST_PROGRESS_CHARS = 400;

export function callStory(parts: CallStoryParts): CallStory {
  const { session_id, lane, node, child_runs = [], child_calls = [] } = parts;
  const facts = parts.facts.map(soundFact).filter((fact) => isOf(fact, lane));
  const began = lane.spans[0]?.[1] ?? 0;
  const result = callResult(facts);
  const { inputs, notes } = callInputs(facts);
  const { decisions, request } = callDecisions(facts, atOf, result !== undefined);
  const preview = callPreview(facts, request, result);
  const progress = facts.flatMap((fact) => progressOf(fact));
  const requested = facts.findLast((fact) => fact.type === "tool.requested");
  const native_name = requested?.data.native_name;
  const { digest = request?.digest, effects } = judgedAs(facts);
  const left = progress.length - MOST_PROGRESS;
  const cut = left > 0 ? [`Of its progress, the first ${left} lines are omitted.`] : [];
  const linked = facts.flatMap((fact) => childLink(fact)?.child_run_id ?? []);
  const model_view = Array.isArray(node?.content) ? node.content : undefined;

  return omitUndefined({
    session_id,
    lane,
    native_name,
    inputs,
    decisions,
    hooks: callHooks(facts, atOf),
    preview,
    effects,
    digest,
    progress: progress.slice(-MOST_PROGRESS),
    result,
    model_view,
    artifacts: callArtifacts(facts, result),
    notes: [...notes, ...callNotes(facts), ...cut],
    child_runs: [...new Set([...linked, ...child_runs])],
    child_calls,
    facts: facts.map(({ seq }) => seq),
  });

  function atOf({ time }: Fact): number {
    const at = Date.parse(time);
    return Number.isFinite(at) ? at : began;
  }

  function progressOf(fact: Fact): { at: number; text: string }[] {
    const text =
      fact.type === "tool.progress" ? KERNEL_FACT_TEXTS[fact.type](fact.data) : undefined;
    return text === undefined || text === ""
      ? []
      : [{ at: atOf(fact), text: oneLine(text, MOST_PROGRESS_CHARS) }];
  }
}

/** That a change was undone is a fact of the session: it names the run it is about. */
function isOf(fact: Fact, lane: Lane): boolean {
  if (fact.tool_call_id !== lane.tool_call_id) return false;
  const isOfSession = fact.type === "change.undone" || fact.type === "error";
  return (fact.run_id ?? (isOfSession ? fact.data.of_run : undefined)) === lane.run_id;
}

/** As it was started; else as far as it got. */
function judgedAs(facts: readonly Fact[]): { digest?: string; effects?: Record<string, boolean> } {
  const validated = facts.findLast((fact) => fact.type === "tool.validated")?.data;
  const evaluated = facts.findLast((fact) => fact.type === "permission.evaluated")?.data;
  const started = facts.findLast((fact) => fact.type === "tool.started")?.data;
  const digest = started?.digest ?? evaluated?.digest;
  const effects = [started, evaluated, validated]
    .map((data) => data?.effects ?? {})
    .find((found) => Object.keys(found).length > 0);
  return {
    digest,
    effects: effects && { ...effects },
  };
}
