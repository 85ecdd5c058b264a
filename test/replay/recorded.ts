// A run with a written model and what is on record of it, for tests that replay it, also with facts that were edited.

import type { Fact, JsonObject } from "@soong/core";
import { createReplaySource, type ReplaySource } from "@soong/replay";
import { openStage, type Answer, type StageOptions } from "../agent/loop-stage.ts";

export interface Kept {
  readonly run_id: string;
  readonly facts: Fact[];
  readonly source: ReplaySource;
}

export async function recorded(
  answers: readonly Answer[],
  options: StageOptions = {},
): Promise<Kept> {
  const stage = await openStage(answers, options);
  const run = stage.conversation.send("go");
  await stage.finish(run);
  const facts = structuredClone(stage.journal.facts) as Fact[];
  const source = createReplaySource({ facts, nodes: stage.journal.nodes }, stage.session.artifacts);
  return { run_id: await run.run_id, facts, source };
}

/** Of the first fact of a type, about a call where one is named. */
export function edit(
  { facts }: Kept,
  type: string,
  id: string | undefined,
  change: (data: JsonObject) => void,
): void {
  const found = facts.find(
    (fact) => fact.type === type && (id === undefined || fact.tool_call_id === id),
  );
  if (found === undefined) throw new Error(`there is no ${type}`);
  change(found.data as JsonObject);
}
