// `soong workers`: lists the workers of all machines that share the store, with their steps, and drains one (DIST-1).

import { describeOpenQuestion } from "@soong/core/internal";
import type {
  ClusterStorage,
  DeclinedStep,
  QuestionRecord,
  Store,
  WorkerRecord,
  WorkerStep,
} from "@soong/store";
import { LOST_AFTER_MS } from "@soong/worker";
import { CommandError, formatDuration, visibleLine } from "../../output/index.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { matchId, type IdSubject } from "../match-id.ts";
import { isStoreShared, withReadOnlyStore, withStore } from "../stored.ts";
import { readOpenQuestions } from "./open-questions.ts";

export const listWorkers: Handler<"workers"> = async (context) => {
  const { output, print, json } = context;
  const { bold, dim, yellow } = output.colours;
  const workers = await readWorkers(context);
  for (const { seen_ms_ago, asked, ...worker } of workers) {
    const state = describeState(worker, seen_ms_ago);
    print({ state, ...worker }, () => {
      const { worker_id, pool, host, pid, doing, declined = [], concurrency } = worker;
      const seconds = Math.max(0, Math.floor(seen_ms_ago / 1_000));
      const isLost = state === "lost";
      const seen = isLost ? `not seen for ${seconds} s` : `seen ${seconds} s ago`;
      return [
        `${bold(visibleLine(worker_id))}  ${visibleLine(pool)}  ${state} (${doing.length} of ${concurrency})`,
        ...doing.flatMap((step) => [
          `    ${describeStep(step, isLost)}`,
          ...asked
            .filter(({ session_id }) => session_id === step.session_id)
            .map((one) => yellow(`      waits for ${describeOpenQuestion(one)}`)),
        ]),
        ...declined.map((one) => `    ${describeDeclined(one)}`),
        dim(`    on ${visibleLine(host)} (process ${pid}), ${seen}`),
      ];
    });
  }
  if (workers.length === 0 && !json) {
    output.note("No worker is there: `soong worker --pool NAME` starts one.");
  }
};

export const drainWorker: Handler<"workers drain"> = async (context, { id }) => {
  const { worker_id, seen_ms_ago } = matchId(id, await readWorkers(context), WORKER);
  const worker = await withStore(context, (store) => requireCluster(store).drainWorker(worker_id));
  if (worker === undefined) {
    throw new CommandError(`The worker ${visibleLine(worker_id)} has just ended.`);
  }
  const state = describeState(worker, seen_ms_ago);
  context.print({ state, ...worker }, () => {
    if (state === "lost") {
      return `${visibleLine(worker_id)} is lost: it takes no more if it comes back.`;
    }
    const { length } = worker.doing;
    const steps = length === 1 ? "1 step" : `${length} steps`;
    return `draining ${visibleLine(worker_id)}: it finishes ${steps}, takes no more, and ends.`;
  });
};

interface SeenWorker extends WorkerRecord {
  /** Measured by the database's clock, which may differ from this machine's. */
  readonly seen_ms_ago: number;
  /** The open questions of all workers. */
  readonly asked: readonly QuestionRecord[];
}

/** Returns an empty list if there is no store yet. */
export async function readWorkers(context: CommandContext): Promise<SeenWorker[]> {
  if (!(await isStoreShared(context))) throw refuseOneMachine();
  const noneStored = (): SeenWorker[] => [];
  return withReadOnlyStore(context, noneStored, async (store, redactor) => {
    const cluster = requireCluster(store);
    const offsetMs = await cluster.clockOffsetMs();
    const workers = await cluster.workers();
    const asked = await readOpenQuestions(store, redactor);
    const now = Date.now() - offsetMs;
    return workers.map((worker) => ({
      ...worker,
      seen_ms_ago: now - Date.parse(worker.seen_at),
      asked,
    }));
  });
}

function requireCluster({ cluster }: Store): ClusterStorage {
  if (cluster === undefined) throw refuseOneMachine();
  return cluster;
}

function refuseOneMachine(): CommandError {
  return new CommandError(
    "Workers need a store that machines share, and this home has one of its own (SQLite): set store.url in config.toml, or SOONG_STORE_URL.",
  );
}

const WORKER: IdSubject<WorkerRecord> = {
  kind: "worker",
  id: ({ worker_id }) => worker_id,
  describe: ({ pool, host }) => visibleLine(`${pool} on ${host}`),
  hint: "`soong workers` lists those that are there.",
};

function describeState(
  { draining, doing }: WorkerRecord,
  seenMsAgo: number,
): "lost" | "draining" | "working" | "idle" {
  if (seenMsAgo > LOST_AFTER_MS) return "lost";
  if (draining) return "draining";
  return doing.length > 0 ? "working" : "idle";
}

function describeStep(
  { task_id, step_id, since, session_id }: WorkerStep,
  isLost: boolean,
): string {
  const where = session_id === undefined ? "" : ` in ${session_id}`;
  const how = isLost
    ? "when it was last seen; if that has not ended, another worker gets it when the lease ends"
    : `for ${formatDuration(Math.max(0, Date.now() - Date.parse(since)))}`;
  return visibleLine(`${task_id} ${step_id}${where}, ${how}`);
}

function describeDeclined({ task_id, step_id, why }: DeclinedStep): string {
  return visibleLine(`leaves ${task_id} ${step_id} to other workers: ${why}`);
}
