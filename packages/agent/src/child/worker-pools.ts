// The workers there are, and which of them are at work (SCHED-2). A worker is a place, not a process: it has one run at a
// time, and a pool whose places are all taken says so.

import type { TaskActor } from "@soong/tasks";

export interface WorkerPool {
  readonly name: string;
  /** Default: `default_worker_agent`. */
  readonly agent_definition_id?: string;
  readonly size: number;
  /** Its workers are processes of their own, on any machine; `size` bounds how many steps are given to them at a time. */
  readonly remote?: boolean;
  /** Where its workers are, for their names. */
  readonly place?: string;
  /** A reference, before the definition's own. */
  readonly model?: string;
  /** In addition to the task tools. Default: the definition's, or the role's default (SURF-6). */
  readonly allowed_tools?: readonly string[];
}

/** What a worker is at work on. */
export interface Assignment {
  /** Such as `builders/2`. */
  readonly worker: string;
  readonly pool: WorkerPool;
  readonly session_id: string;
  readonly agent_id: string;
  readonly run_id: string;
  readonly task_id: string;
  readonly step_id?: string;
  /** The steps it had a hand in so far. */
  readonly touched: Set<string>;
}

export type WorkerState =
  | { readonly worker: string; readonly state: "idle" }
  | ({ readonly worker: string; readonly state: "busy" } & Pick<
      Assignment,
      "run_id" | "task_id" | "step_id"
    >);

export interface PoolState {
  readonly pool: string;
  readonly agent_definition_id: string | undefined;
  readonly idle: number;
  readonly busy: number;
  readonly workers: readonly WorkerState[];
}

/** Any worker of a pool, or that very one. */
export interface WorkerRequest {
  readonly pool?: string;
  readonly worker?: string;
}

export type Taken =
  | { readonly kind: "taken"; readonly assignment: Assignment }
  | { readonly kind: "busy" | "unknown"; readonly message: string };

export interface WorkerPools {
  readonly pools: readonly WorkerPool[];
  states(): readonly PoolState[];
  take(wanted: WorkerRequest, work: Omit<Assignment, "worker" | "pool" | "touched">): Taken;
  free(assignment: Assignment): void;
  findByRun(run_id: string): Assignment | undefined;
}

/** Throws on settings that make no sense. */
export function createWorkerPools(pools: readonly WorkerPool[]): WorkerPools {
  const names = new Set<string>();
  for (const { name, size } of pools) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
      throw new RangeError(
        `a worker pool is named with letters, digits, "_" and "-", not "${name}"`,
      );
    }
    if (names.has(name)) throw new RangeError(`there are two worker pools "${name}"`);
    if (!Number.isInteger(size) || size < 1 || size > 64) {
      throw new RangeError(`the size of the worker pool ${name} is ${size}; it is from 1 to 64`);
    }
    names.add(name);
  }
  const atWork = new Map<string, Assignment>();
  const places = pools.flatMap((pool) =>
    Array.from({ length: pool.size }, (_, i) => ({ pool, worker: nameWorker(pool, i + 1) })),
  );

  return {
    pools,
    states: () => pools.map(describePool),
    take(wanted, work) {
      const meant = places.filter(({ pool, worker }) =>
        wanted.worker === undefined ? pool.name === wanted.pool : worker === wanted.worker,
      );
      if (meant.length === 0) return { kind: "unknown", message: describeUnknown(wanted) };
      const place = meant.find(({ worker }) => !atWork.has(worker));
      if (place === undefined) return { kind: "busy", message: describeBusy(wanted) };
      const touched = new Set(work.step_id === undefined ? [] : [work.step_id]);
      const assignment = { ...work, ...place, touched };
      atWork.set(place.worker, assignment);
      return { kind: "taken", assignment };
    },
    free(assignment) {
      if (atWork.get(assignment.worker) === assignment) atWork.delete(assignment.worker);
    },
    findByRun: (run_id) => [...atWork.values()].find((one) => one.run_id === run_id),
  };

  function describePool(pool: WorkerPool): PoolState {
    const { name, agent_definition_id } = pool;
    const workers = places.filter((place) => place.pool === pool).map(describeWorker);
    const busy = workers.filter(({ state }) => state === "busy").length;
    return { pool: name, agent_definition_id, idle: workers.length - busy, busy, workers };
  }

  function describeWorker({ worker }: { readonly worker: string }): WorkerState {
    const at = atWork.get(worker);
    if (at === undefined) return { worker, state: "idle" };
    const { run_id, task_id, step_id } = at;
    return { worker, state: "busy", run_id, task_id, step_id };
  }

  function describeUnknown({ pool, worker }: WorkerRequest): string {
    if (places.length === 0) return "There are no worker pools: none is configured.";
    const isPool = worker === undefined;
    const known = isPool ? pools.map(({ name }) => name) : places.map((place) => place.worker);
    const what = isPool ? `pool "${pool}"` : `worker "${worker}"`;
    return `There is no ${what}; there are ${known.join(", ")}.`;
  }

  function describeBusy({ pool, worker }: WorkerRequest): string {
    return worker === undefined
      ? `Every worker of the pool ${pool} is busy. Dispatch to another pool, or again when one of its runs has ended.`
      : `The worker ${worker} is busy with a run of its own. Dispatch to its pool or another worker, or again when that has ended.`;
  }
}

function nameWorker({ name, place }: WorkerPool, number: number): string {
  return `${name}${place === undefined ? "" : `@${place}`}/${number}`;
}

/** Who a worker is to its task (TASK-5). */
export function toWorkerActor(assignment: Assignment): TaskActor {
  const { session_id, run_id, agent_id, task_id, step_id, worker } = assignment;
  return { kind: "worker", session_id, run_id, agent_id, task_id, worker, step_id };
}
