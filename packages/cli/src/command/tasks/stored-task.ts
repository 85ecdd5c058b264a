// A stored task, by its id or unique prefix, and its steps.

import type { StepRecord, TaskReader, TaskWithCounts } from "@soong/tasks";
import { CommandError, UsageError, visibleLine } from "../../output/index.ts";
import { readPages } from "../stored.ts";

const PAGE = 200;
const SHOWN = 5;

export async function findTask(reader: TaskReader, given: string): Promise<TaskWithCounts> {
  const found = await reader.get(given);
  if (found !== undefined) return found;
  const ids = (await reader.list({ limit: 1000 })).map(({ task_id }) => task_id);
  const meant = given === "" ? [] : ids.filter((id) => id.startsWith(given));
  if (meant.length > 1) {
    throw new UsageError(
      `${visibleLine(given)} begins the ids of ${meant.length} tasks: ${meant.slice(0, SHOWN).join(", ")}.`,
    );
  }
  const [only] = meant;
  const task = only === undefined ? undefined : await reader.get(only);
  if (task !== undefined) return task;
  throw new CommandError(
    `There is no task ${visibleLine(given)}. \`soong tasks\` lists those there are.`,
  );
}

/** All of them, by position. */
export async function listSteps(reader: TaskReader, task_id: string): Promise<StepRecord[]> {
  const steps: StepRecord[] = [];
  const pages = readPages<StepRecord>(PAGE, (last) =>
    reader.steps(task_id, { limit: PAGE, after_position: last?.position }),
  );
  for await (const page of pages) steps.push(...page);
  return steps;
}

/** As a record for programs: the token of a claim is its holder's alone. */
export function withoutClaimToken({ claim, ...step }: StepRecord): object {
  if (claim === undefined) return step;
  const { token: _token, ...shown } = claim;
  return { ...step, claim: shown };
}
