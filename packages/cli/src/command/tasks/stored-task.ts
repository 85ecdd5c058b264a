// Finds a stored task by its id or unique prefix, and lists its steps.

import type { StepRecord, TaskReader, TaskRecord, TaskWithCounts } from "@soong/tasks";
import { describeAge, visibleLine } from "../../output/index.ts";
import { matchId, unknownId, type IdSubject } from "../match-id.ts";
import { readPages } from "../stored.ts";

const PAGE = 200;

export async function findTask(reader: TaskReader, given: string): Promise<TaskWithCounts> {
  const found = await reader.get(given);
  if (found !== undefined) return found;
  const { task_id } = matchId(given, await reader.list({ limit: 1000 }), TASK);
  const task = await reader.get(task_id);
  if (task === undefined) throw unknownId(given, [], TASK);
  return task;
}

const TASK: IdSubject<TaskRecord> = {
  kind: "task",
  id: ({ task_id }) => task_id,
  describe: ({ title, status, created_at }) =>
    `${visibleLine(title)} (${status})  ${describeAge(created_at, Date.now())}`,
  hint: "`soong tasks` lists them.",
};

/** Lists all steps by position. */
export async function listSteps(reader: TaskReader, task_id: string): Promise<StepRecord[]> {
  const steps: StepRecord[] = [];
  const pages = readPages<StepRecord>(PAGE, (last) =>
    reader.steps(task_id, { limit: PAGE, after_position: last?.position }),
  );
  for await (const page of pages) steps.push(...page);
  return steps;
}

/** Makes a record for programs, without the token of the claim, which only its holder may have. */
export function withoutClaimToken({ claim, ...step }: StepRecord): object {
  if (claim === undefined) return step;
  const { token: _token, ...shown } = claim;
  return { ...step, claim: shown };
}
