// All that is known of one call, put together from its facts and the node the model reads.

import type { ConversationNode, Fact } from "@soong/core";
import type { CallStory, Lane } from "../wire/index.ts";
import { callDecisions } from "./call-decisions.ts";
import { callHooks } from "./call-hooks.ts";
import { callInputs } from "./call-inputs.ts";
import { callNotes } from "./call-notes.ts";
import { callArtifacts, callPreview, callResult } from "./call-result.ts";
import { progressWords } from "./fact-words.ts";
import { oneLine } from "./one-line.ts";
import { dataIn, textIn } from "./read-data.ts";
import { childLink } from "./run-track.ts";
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
  const facts = parts.facts.filter((fact) => isOf(fact, lane));
  const began = lane.spans[0]?.[1] ?? 0;
  const result = callResult(facts);
  const { inputs, notes } = callInputs(facts);
  const { decisions, request } = callDecisions(facts, atOf, result !== undefined);
  const preview = callPreview(facts, request, result);
  const progress = facts.flatMap((fact) => progressOf(fact));
  const native_name = textOf(facts, ["tool.requested"], "native_name");
  const digest =
    textOf(facts, ["tool.started", "permission.evaluated"], "digest") ?? request?.digest;
  const effects = effectsIn(facts);
  const left = progress.length - MOST_PROGRESS;
  const cut = left > 0 ? [`Of its progress, the first ${left} lines are left out.`] : [];
  const linked = facts.flatMap((fact) => childLink(fact)?.child_run_id ?? []);
  const model_view = Array.isArray(node?.content) ? node.content : undefined;

  return {
    session_id,
    lane,
    ...(native_name === undefined ? {} : { native_name }),
    inputs,
    decisions,
    hooks: callHooks(facts, atOf),
    ...(preview === undefined ? {} : { preview }),
    ...(effects === undefined ? {} : { effects }),
    ...(digest === undefined ? {} : { digest }),
    progress: progress.slice(-MOST_PROGRESS),
    ...(result === undefined ? {} : { result }),
    ...(model_view === undefined ? {} : { model_view }),
    artifacts: callArtifacts(facts, result),
    notes: [...notes, ...callNotes(facts), ...cut],
    child_runs: [...new Set([...linked, ...child_runs])],
    child_calls,
    facts: facts.map(({ seq }) => seq),
  };

  function atOf({ time }: Fact): number {
    const at = Date.parse(time);
    return Number.isFinite(at) ? at : began;
  }

  function progressOf(fact: Fact): { at: number; text: string }[] {
    const text = fact.type === "tool.progress" ? progressWords(dataIn(fact.data)) : undefined;
    return text === undefined ? [] : [{ at: atOf(fact), text: oneLine(text, MOST_PROGRESS_CHARS) }];
  }
}

/** That a change was undone is a fact of the session: it names the run it is about. */
function isOf({ tool_call_id, run_id, data }: Fact, lane: Lane): boolean {
  if (tool_call_id !== lane.tool_call_id) return false;
  return (run_id ?? textIn(dataIn(data), "of_run")) === lane.run_id;
}

/** From the last fact of the first of these types that has it. */
function textOf(
  facts: readonly Fact[],
  types: readonly string[],
  field: string,
): string | undefined {
  for (const type of types) {
    const fact = facts.findLast((one) => one.type === type);
    const text = textIn(dataIn(fact?.data), field);
    if (text !== undefined) return text;
  }
  return undefined;
}

function effectsIn(facts: readonly Fact[]): Record<string, boolean> | undefined {
  for (const type of ["tool.started", "permission.evaluated", "tool.validated"]) {
    const fact = facts.findLast((one) => one.type === type);
    const told = Object.entries(dataIn(dataIn(fact?.data)["effects"]));
    const effects = told.filter((one): one is [string, boolean] => typeof one[1] === "boolean");
    if (effects.length > 0) return Object.fromEntries(effects);
  }
  return undefined;
}
