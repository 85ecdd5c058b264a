// Workers may be at steps of a session that no process holds: whoever drove them was killed. They end their steps, and another
// drive continues, so the session stays where it is meanwhile.

import { StoreError } from "../contract/store-error.ts";
import type { SessionRow } from "../session/rows.ts";
import { sqlRow, type Steps } from "../sql/sql.ts";

/** Throws `session_in_use` if the lease of a step of the session has not ended by then. */
export function* refuseWorkers(
  { session_id, session_no }: Pick<SessionRow, "session_id" | "session_no">,
  now: number,
): Steps<void> {
  const step = yield* sqlRow<{
    task_id: string;
    step_id: string;
  }>`SELECT task_id, step_id FROM tasks JOIN task_steps USING (task_no)
    WHERE session_no = ${session_no} AND lease_expires_at > ${now} LIMIT 1`;
  if (step === undefined) return;
  throw new StoreError(
    "session_in_use",
    `Session ${session_id} is in use by a worker at step ${step.step_id} of task ${step.task_id}. Wait until it has ended, or end it with \`soong tasks cancel ${step.task_id}\`.`,
  );
}
