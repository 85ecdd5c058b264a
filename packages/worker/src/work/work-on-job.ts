// One job, from its delivery to its end: checked, claimed, worked on in a session of its own, given back where it was not
// finished. Delivered twice, it is claimed once.

import {
  bufferFacts,
  digestDefinition,
  findToolsBeyond,
  type Agents,
  type LoopLimits,
  type Model,
  type RunEnd,
  type ToolProvider,
  type WorkCeiling,
  type WorkerPool,
} from "@soong/agent";
import {
  messageOf,
  randomIds,
  SoongError,
  systemClock,
  type Session,
  type SessionDispatch,
} from "@soong/core";
import type { CallRecord, Store } from "@soong/store";
import { TaskRefused, type ClaimKeeper, type StepRecord, type Tasks } from "@soong/tasks";
import { findMissingGuard, readJob, type Guard, type JobWork } from "../dispatch/index.ts";
import type { Job, JobEnd } from "../queue/index.ts";
import { readCeiling } from "./ceiling.ts";
import type { DeclinedSteps } from "./declined-steps.ts";
import type { MachinePlaces } from "./move-policy.ts";
import { createReadCalls } from "./read-calls.ts";

/** What a worker process works with. */
export interface WorkerHost {
  readonly store: Store;
  readonly tasks: Tasks;
  readonly keeper: ClaimKeeper;
  readonly agents: Agents;
  readonly models: readonly [Model, ...Model[]];
  readonly limits: LoopLimits;
  readonly toolProvider?: ToolProvider | undefined;
  readonly places: MachinePlaces;
  /** The hooks of its sessions that can stop or change calls. */
  readonly guards: readonly Guard[];
  /** The name of a tool, of an alias the one it is for. */
  canonicalTool(name: string): string;
  /** Whether there is such a tool now, by any of its names. */
  hasTool(name: string): boolean;
  /** Throws where this machine has no such model. */
  checkModel(reference: string): Promise<unknown>;
  /** A session of this process, for one step. */
  openSession(about: {
    readonly title: string;
    readonly dispatchedBy: SessionDispatch;
  }): Promise<WorkerSession>;
  /** What the user of the worker should know. */
  report(line: string): void;
}

export interface WorkerSession {
  readonly session: Session;
  /** Someone wants its runs ended. */
  onAbort(listener: (reason: string) => void): () => void;
  /** Another process may have it by now. */
  readonly lost: AbortSignal;
  close(): Promise<void>;
}

export interface JobWatch {
  readonly declined: DeclinedSteps;
  /** A step that it had not declined before. */
  readonly onDeclined: () => void;
  /** It has claimed the step, and executes it now. */
  readonly onBegun: () => void;
}

/** Another worker may be able to: it has other definitions. This one may be the first to see it again. */
const ELSEWHERE_MS = 1_000;

export async function workOnJob(
  host: WorkerHost,
  job: Job,
  signal: AbortSignal,
  { declined, onDeclined, onBegun }: JobWatch,
): Promise<JobEnd> {
  const work = readJob(job);
  if (typeof work === "string") {
    host.report(`The job ${job.id} was dropped: ${work}.`);
    return "done";
  }
  const pool = host.agents.workers.pools.find(({ name }) => name === work.pool);
  if (pool === undefined) {
    host.report(`The job ${job.id} was dropped: it is for another pool.`);
    return "done";
  }
  const ids = randomIds();
  const { task_id, step_id } = work;
  const ceiling = readCeiling(host.store, work.from, host.places);
  // Where the work is not wanted, it does not matter.
  ceiling.catch(() => {});
  const [isStillWanted, found] = await Promise.all([
    isWanted(host.store, work),
    host.tasks.reader.get(task_id),
  ]);
  const task = found?.task;
  // Whoever wanted it may have given up, and the job was late.
  if (!isStillWanted || task === undefined) return "done";
  const why = await findMismatch(host, work, pool);
  if (why !== undefined) {
    const { isNewStep, isNewReason, isOutdated } = declined.add(work, why);
    if (isNewReason) {
      host.report(`Step ${work.step_id} of ${work.task_id} is left to other workers: ${why}`);
    }
    if (isNewStep) onDeclined();
    return isOutdated ? "done" : { retryInMs: ELSEWHERE_MS };
  }
  const taken = host.agents.workers.take(
    { pool: pool.name },
    {
      session_id: task.session_id,
      agent_id: ids.next("agent"),
      run_id: ids.next("run"),
      task_id,
      step_id,
    },
  );
  if (taken.kind !== "taken") return { retryInMs: ELSEWHERE_MS };
  const { assignment } = taken;
  try {
    const own = { work, assignment, title: task.title };
    return await claimAndWork(host, { ...own, onBegun }, await ceiling, signal);
  } finally {
    host.agents.workers.free(assignment);
  }
}

type Taken = Pick<Parameters<Agents["workOnStep"]>[0], "assignment" | "title"> &
  Pick<JobWatch, "onBegun"> & { readonly work: JobWork };

async function claimAndWork(
  host: WorkerHost,
  taken: Taken,
  ceiling: WorkCeiling,
  signal: AbortSignal,
): Promise<JobEnd> {
  const { keeper } = host;
  const { work, assignment, onBegun } = taken;
  const { run_id, agent_id, session_id, worker } = assignment;
  const { task_id, step_id } = work;
  const facts = bufferFacts();
  const actor = { kind: "worker", session_id, run_id, agent_id, task_id, worker, step_id } as const;
  const claimed = await claim();
  if (claimed.kind !== "claimed") return claimed.end;
  const { step } = claimed;
  let opened: WorkerSession | undefined;
  const stop = new AbortController();
  const unwatch = watchWithdrawal(host, work, (reason) => stop.abort(reason));
  try {
    // The dispatch may have ended between the look before and the claim, and then no one knows of the claim.
    if (!(await isWanted(host.store, work))) {
      await keeper.leave(run_id, "aborted", facts.record);
      return "done";
    }
    onBegun();
    host.report(`→ ${step_id} of ${task_id}: ${step.title}`);
    closeEarlierQuestions(host.store, step);
    opened = await host.openSession({
      title: `${taken.title}: ${step.title}`,
      dispatchedBy: { ...work.from, task_id, step_id },
    });
    opened.onAbort((reason) => stop.abort(reason));
    const end = await host.agents.workOnStep(
      { ...taken, step, facts },
      {
        session: opened.session,
        models: host.models,
        limits: host.limits,
        clock: systemClock(),
        ids: randomIds(),
        toolProvider: host.toolProvider,
        ceiling,
        readCalls: createReadCalls(host.store),
        signal: AbortSignal.any([signal, stop.signal, opened.lost]),
      },
    );
    host.report(`← ${step_id} of ${task_id}: ${describeEnd(end)}`);
  } catch (error) {
    host.report(`← ${step_id} of ${task_id} failed: ${messageOf(error)}`);
    // Given back unused: another worker may be able to.
    await keeper.leave(run_id, "aborted", facts.record).catch(() => {});
    throw error;
  } finally {
    unwatch();
    host.store.cluster?.wake(`step/${task_id}/${step_id}`);
    await opened?.close().catch((error: unknown) => {
      host.report(`The session of ${step_id} could not be closed: ${messageOf(error)}`);
    });
  }
  return "done";

  async function claim() {
    try {
      const got = await keeper.claim({ actor, record: facts.record }, { task_id, step_id });
      if (got.kind === "claimed") return got;
    } catch (error) {
      if (!(error instanceof TaskRefused)) throw error;
    }
    const step = await host.tasks.reader.step(task_id, step_id);
    const until = step?.claim?.lease_expires_at;
    // Held by another: delivered again when that lease may have ended.
    const end: JobEnd =
      until === undefined
        ? "done"
        : {
            retryInMs: Math.max(
              1_000,
              Math.min(host.tasks.leaseMs, Date.parse(until) - Date.now()),
            ),
          };
    return { kind: "refused", end } as const;
  }
}

/** Whoever can write the queue can write anything into a job: what this machine says of the pool bounds it. */
async function findMismatch(
  host: WorkerHost,
  work: JobWork,
  pool: WorkerPool,
): Promise<string | undefined> {
  const { agent_definition_id: id, allowed_tools: asked = [] } = work;
  const { name, agent_definition_id: own = id } = pool;
  const definition = host.agents.catalog.definitions.get(id);
  if (definition === undefined) {
    return `there is no agent definition ${id} on this worker. Give all machines the same file, and start this worker again.`;
  }
  if (digestDefinition(definition) !== work.definition_digest) {
    return `the agent definition ${id} is not the dispatcher's on this worker. Give all machines the same file, and start this worker again.`;
  }
  if (id !== own) {
    return `it is for the agent ${id}, and the pool ${name} has ${own} on this worker. Give all machines the same config, and start this worker again.`;
  }
  for (const [most, whose] of [
    [pool.allowed_tools, `the pool ${name}`],
    [definition.allowed_tools, `the agent ${id}`],
  ] as const) {
    const beyond = most && findToolsBeyond(most, asked, (tool) => host.canonicalTool(tool));
    if (most === undefined || beyond?.length === 0) continue;
    return `it allows ${beyond?.join(", ")}, and ${whose} allows ${most.length === 0 ? "none" : `only ${most.join(", ")}`} on this worker. Give all machines the same config, and start this worker again.`;
  }
  const lacking = findUnknownTools(host, asked) ?? findMissingGuard(work.guards, host.guards);
  if (lacking !== undefined) return lacking;
  const model = work.model ?? definition.model;
  if (model === undefined) return undefined;
  try {
    await host.checkModel(model);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function describeEnd({ error, reason }: RunEnd): string {
  return error?.message ?? reason.replaceAll("_", " ");
}

/** Whoever dispatched it does not know of a run that has not begun, so it is not told: it looks. */
function watchWithdrawal(
  { store: { cluster }, tasks: { leaseMs } }: WorkerHost,
  { from: { run_id, tool_call_id } }: JobWork,
  onWithdrawn: (reason: string) => void,
): () => void {
  if (cluster === undefined) return () => {};
  const look = async (): Promise<void> => {
    const reason = await cluster.readWithdrawal({ run_id, tool_call_id });
    if (reason !== undefined) onWithdrawn(reason);
  };
  // A database that is away is asked again.
  const lookSafely = (): void => void look().catch(() => {});
  const timer = setInterval(lookSafely, leaseMs / 3);
  const unlisten = cluster.listen(`dispatch/${run_id}`, lookSafely);
  return () => {
    clearInterval(timer);
    unlisten();
  };
}

/** A run with a tool that is not there ends at once, and would use up an attempt. */
function findUnknownTools(host: WorkerHost, asked: readonly string[]): string | undefined {
  const unknown = asked.filter((name) => !name.includes("*") && !host.hasTool(name));
  if (unknown.length === 0) return undefined;
  return `it may use ${unknown.join(", ")}, and there is no such tool on this worker. Add it, or remove it from the pool's allowed_tools.`;
}

/** Attempts that were lost: no one waits for an answer to what they asked. */
function closeEarlierQuestions(store: Store, { earlier = [] }: StepRecord): void {
  const close = async (run_id: string): Promise<void> => {
    const run = await store.findRun(run_id);
    if (run !== undefined) await store.questions().withdrawAll(run.session_id);
  };
  for (const { run_id } of earlier) close(run_id).catch(() => {});
}

/** The call that dispatched it has not ended and was not withdrawn, and its session is held by someone. */
async function isWanted(store: Store, { from }: JobWork): Promise<boolean> {
  const { session_id, run_id, tool_call_id } = from;
  const [held, withdrawal, calls] = await Promise.all([
    store.heldSessions([session_id]),
    store.cluster?.readWithdrawal({ run_id, tool_call_id }),
    readCalls(),
  ]);
  const call = calls.find((one) => one.tool_call_id === tool_call_id);
  const isOpen = call !== undefined && call.status === undefined;
  return held.length > 0 && withdrawal === undefined && isOpen;

  async function readCalls(): Promise<readonly CallRecord[]> {
    const reader = await store.readSession(session_id).catch((error: unknown) => {
      if (error instanceof SoongError) return undefined;
      throw error;
    });
    return (await reader?.calls({ run_id })) ?? [];
  }
}
