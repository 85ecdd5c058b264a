// Reads the open questions of a store, where each was asked, and which step of a task waits for it.

import type { Redactor } from "@soong/core";
import type { QuestionRecord, RunRecord, Store } from "@soong/store";
import type { StepRecord } from "@soong/tasks";
import { readWorkedSteps, type WorkedStep } from "../sessions/session-summary.ts";

/** Redacts secrets of this home. */
export async function readOpenQuestions(
  store: Pick<Store, "questions">,
  redactor: Redactor,
): Promise<QuestionRecord[]> {
  const all = await store.questions().list();
  return all.flatMap((one) => (one.state === "open" ? [redactor.value(one)] : []));
}

export interface QuestionPlace {
  readonly project?: string | undefined;
  readonly worker_of?: WorkedStep | undefined;
}

/** Returns the places by session. A session that was removed meanwhile has no project. */
export async function readQuestionPlaces(
  store: Pick<Store, "readSession" | "factsOfTypes">,
  questions: readonly QuestionRecord[],
): Promise<ReadonlyMap<string, QuestionPlace>> {
  const ids = listSessions(questions);
  const worked = await readWorkedSteps(store, ids);
  const places = ids.map(async (id): Promise<[string, QuestionPlace]> => {
    const worker_of = worked.get(id);
    try {
      const { project } = await (await store.readSession(id)).record();
      return [id, { project, worker_of }];
    } catch {
      return [id, { worker_of }];
    }
  });
  return new Map(await Promise.all(places));
}

/** Returns the questions by step. A remote worker has its own session; workers of the driving process share its session. */
export async function findStepQuestions(
  store: Pick<Store, "runs" | "factsOfTypes">,
  steps: readonly StepRecord[],
  questions: readonly QuestionRecord[],
): Promise<ReadonlyMap<string, readonly QuestionRecord[]>> {
  const ids = listSessions(questions);
  if (ids.length === 0) return new Map();
  const worked = await readWorkedSteps(store, ids);
  const runs = new Map((await store.runs(ids)).map((run) => [run.run_id, run]));
  return new Map(
    steps.flatMap(({ step_id, claim }): [string, QuestionRecord[]][] => {
      const run = claim && runs.get(claim.run_id);
      if (run === undefined) return [];
      const { session_id, run_id } = run;
      const asked = questions.filter(
        (one) =>
          one.session_id === session_id &&
          (worked.has(session_id) || isWithin(runs, one.run_id, run_id)),
      );
      return [[step_id, asked]];
    }),
  );
}

/** Whether it is this run or one that it started, at any depth. A parent that was changed by hand may be a descendant, too. */
function isWithin(runs: ReadonlyMap<string, RunRecord>, run_id: string, ancestor: string): boolean {
  const seen = new Set<string>();
  let id: string | undefined = run_id;
  while (id !== undefined && !seen.has(id)) {
    if (id === ancestor) return true;
    seen.add(id);
    id = runs.get(id)?.parent_run_id;
  }
  return false;
}

function listSessions(questions: readonly QuestionRecord[]): string[] {
  return [...new Set(questions.map(({ session_id }) => session_id))];
}
