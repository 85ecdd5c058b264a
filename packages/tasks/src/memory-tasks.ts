// Tasks in memory, for embedders and tests: the storage of one process, gone with it.

import type {
  FoundRows,
  PlannedChange,
  StatusPage,
  StoredStep,
  StoredTask,
  TaskPage,
  TaskSelection,
  TaskStorage,
} from "./storage.ts";

interface KeptTask {
  readonly row: StoredTask;
  readonly steps: Map<string, StoredStep>;
}

export function createMemoryTasks(): TaskStorage {
  /** In the order they were created. */
  const tasks = new Map<string, KeptTask>();

  return {
    // Synchronous inside, so nothing comes in between.
    async change(selection, plan) {
      const planned = plan(find(selection));
      write(selection.task_id, planned);
      return planned.answer;
    },
    read: async (selection) => find(selection),
    async list(page) {
      const wanted = [...tasks.values()].map(({ row }) => row).toReversed();
      const from = page.after === undefined ? 0 : findPageStart(wanted, page.after);
      return wanted
        .slice(from)
        .filter((row) => isWanted(row, page))
        .slice(0, page.limit)
        .map((row) => structuredClone(row));
    },
  };

  function find(selection: TaskSelection): FoundRows {
    const { task_id, counts, tasks_of_session, claims_of } = selection;
    const kept = tasks.get(task_id);
    const own = [...(kept?.steps.values() ?? [])].toSorted((a, b) => a.position - b.position);
    const asked = new Set([...selectSteps(own, selection), ...findClaimedSteps(claims_of)]);
    const steps = [...asked].toSorted((a, b) => a.position - b.position);
    const all = [...tasks.values()];
    return structuredClone({
      ...(kept && { task: kept.row }),
      steps,
      ...(counts === true && { counts: countByStatus(own) }),
      ...(tasks_of_session !== undefined && {
        session_tasks: all.filter(({ row }) => row.session_id === tasks_of_session).length,
      }),
    });
  }

  function findClaimedSteps(run_id: string | undefined): StoredStep[] {
    if (run_id === undefined) return [];
    return [...tasks.values()].flatMap(({ steps }) =>
      [...steps.values()].filter((step) => step.run_id === run_id),
    );
  }

  /** Checked first, all of it: then nothing of it can fail half-way. */
  function write(task_id: string, planned: PlannedChange<unknown>): void {
    const { task, steps = [], removed_steps = [] } = structuredClone({ ...planned, answer: null });
    const kept =
      task === undefined
        ? undefined
        : { row: task, steps: tasks.get(task.task_id)?.steps ?? new Map<string, StoredStep>() };
    const stepsOf = (id: string): Map<string, StoredStep> | undefined =>
      id === task?.task_id ? kept?.steps : tasks.get(id)?.steps;
    const whole = steps.map((step) => {
      const definition = step.definition ?? stepsOf(step.task_id)?.get(step.step_id)?.definition;
      if (stepsOf(step.task_id) === undefined || definition === undefined) {
        throw new Error(
          `step ${step.step_id} of task ${step.task_id} has no task or no definition`,
        );
      }
      return { ...step, definition };
    });
    if (task !== undefined && kept !== undefined) tasks.set(task.task_id, kept);
    for (const step_id of removed_steps) stepsOf(task_id)?.delete(step_id);
    for (const step of whole) stepsOf(step.task_id)?.set(step.step_id, step);
  }
}

function selectSteps(own: readonly StoredStep[], selection: TaskSelection): StoredStep[] {
  const { steps = [], with_dependents, with_status = [], leases_until } = selection;
  if (steps === "all") return [...own];
  const named = new Set(steps);
  const paged = with_status.flatMap((page) => selectPage(own, page));
  const others = own.filter(
    (step) =>
      named.has(step.step_id) ||
      (with_dependents === true && step.definition.depends_on.some((id) => named.has(id))) ||
      (leases_until !== undefined && (step.lease_expires_at ?? Infinity) <= leases_until),
  );
  return [...paged, ...others];
}

function selectPage(
  own: readonly StoredStep[],
  { statuses, after_position = -1, limit }: StatusPage,
): StoredStep[] {
  return own
    .filter(
      ({ status, position }) => (statuses?.includes(status) ?? true) && position > after_position,
    )
    .slice(0, limit);
}

function countByStatus(steps: readonly StoredStep[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of steps) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function isWanted(row: StoredTask, { session_id, statuses }: TaskPage): boolean {
  return (
    (session_id === undefined || row.session_id === session_id) &&
    (statuses?.includes(row.status) ?? true)
  );
}

function findPageStart(rows: readonly StoredTask[], task_id: string): number {
  const at = rows.findIndex((row) => row.task_id === task_id);
  return at === -1 ? rows.length : at + 1;
}
