// What was called on the playground before, by any inspector of the home: each call has a stored session of its own.

import { isTerminalFact, type Fact, type JsonValue } from "@soong/core";
import type { PastCall, PlaygroundHistory } from "@soong/inspector";
import type { Store } from "@soong/store";
import { readSound } from "../sessions/read-sound.ts";
import { readSessionPages } from "../stored.ts";

export const PLAYGROUND_TITLE = "playground";

const MOST_CALLS = 30;
/** A home may have thousands of sessions and no call of the playground. */
const MOST_SESSIONS = 1000;

export async function readPlaygroundHistory(store: Store): Promise<PlaygroundHistory> {
  const found: string[] = [];
  let looked = 0;
  for await (const page of readSessionPages(store)) {
    looked += page.length;
    found.push(...page.flatMap((one) => (one.title === PLAYGROUND_TITLE ? one.session_id : [])));
    if (found.length >= MOST_CALLS || looked >= MOST_SESSIONS) break;
  }
  const ids = found.slice(0, MOST_CALLS);
  const { facts } = await readSound(ids, (some) => store.factsOfTypes(some, [...TYPES]));
  const calls = ids.flatMap((session_id) =>
    readCall(facts.filter((fact) => fact.session_id === session_id)),
  );
  return { calls };
}

const TYPES = [
  "model.started",
  "tool.requested",
  "tool.completed",
  "tool.failed",
  "tool.denied",
  "tool.skipped",
  "tool.cancelled",
] as const;

/** None: a run with a model that someone gave this title. */
function readCall(facts: readonly Fact[]): PastCall[] {
  const first = facts.find((fact) => fact.type === "tool.requested");
  if (first === undefined || facts.some(({ type }) => type === "model.started")) return [];
  const { session_id, run_id, tool_call_id, tool_name, time, data } = first;
  if (run_id === undefined || tool_call_id === undefined || tool_name === undefined) return [];
  const ended = facts.filter(isTerminalFact).find((fact) => fact.tool_call_id === tool_call_id);
  return [
    {
      session_id,
      run_id,
      tool_call_id,
      tool_name,
      called_at: time,
      status: ended?.data.result?.status,
      input: readInput(data),
    },
  ];
}

function readInput(data: Fact<"tool.requested">["data"]): JsonValue | undefined {
  const { model_input, model_input_chars, model_input_described } = data;
  if (model_input_chars !== undefined || model_input_described === true) return undefined;
  if (typeof model_input !== "string") return model_input;
  try {
    return JSON.parse(model_input) as JsonValue;
  } catch {
    return undefined;
  }
}
