// Workers may be at steps of a session that no process holds: whoever drove them was killed. They end their steps, and another
// drive continues, so the session stays where it is meanwhile.

import { StoreError } from "../contract/store-error.ts";
import type { SessionRow } from "../session/rows.ts";
import { sqlRow, type SqlPart, type Steps } from "../sql/sql.ts";
import { readClock } from "../tasks/task-tables.ts";

interface Clocks {
  readonly clock: { now(): number };
  /** Of a database that machines share: leases end by it. */
  readonly databaseClock?: SqlPart | undefined;
}

/** Throws `session_in_use` if the lease of a step of the session has not ended. */
export function* refuseWorkers(
  { session_id, session_no }: Pick<SessionRow, "session_id" | "session_no">,
  { clock, databaseClock }: Clocks,
): Steps<void> {
  const now = databaseClock === undefined ? clock.now() : yield* readClock(databaseClock);
  const step = yield* sqlRow<{
    task_id: string;
    step_id: string;
  }>`SELECT task_id, step_id FROM tasks JOIN task_steps USING (task_no)
    WHERE session_no = ${session_no} AND lease_expires_at > ${now} LIMIT 1`;
  if (step === undefined) return;
  throw new StoreError(
    "session_in_use",
    `Session ${session_id} is in use by a worker at step ${step.step_id} of task ${step.task_id}. Wait until the step has ended, or end it with \`soong tasks cancel ${step.task_id}\`.`,
  );
}
