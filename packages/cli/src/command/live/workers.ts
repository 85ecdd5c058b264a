// `soong workers`: the workers of all machines that share the store, what each does, and letting one end (DIST-1).

import type { ClusterStorage, DeclinedStep, Store, WorkerRecord, WorkerStep } from "@soong/store";
import { CommandError, describeAge, visibleLine } from "../../output/index.ts";
import { findStoreOptions } from "../../runtime/home.ts";
import { resolveHome } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { matchId, type IdSubject } from "../match-id.ts";
import { withReadOnlyStore, withStore } from "../stored.ts";

export const listWorkers: Handler<"workers"> = async (context) => {
  const { output, print, json } = context;
  const { bold, dim } = output.colours;
  const workers = await readWorkers(context);
  for (const worker of workers) {
    print({ state: describeState(worker), ...worker }, () => {
      const { worker_id, pool, host, pid, doing, declined = [], concurrency, seen_at } = worker;
      const state = `${describeState(worker)} (${doing.length} of ${concurrency})`;
      const seen = `seen ${describeAge(seen_at, Date.now())}`;
      return [
        `${bold(visibleLine(worker_id))}  ${visibleLine(pool)}  ${state}`,
        ...doing.map((step) => `    ${describeStep(step)}`),
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
  const { worker_id } = matchId(id, await readWorkers(context), WORKER);
  const worker = await withStore(context, (store) => requireCluster(store).drainWorker(worker_id));
  if (worker === undefined) {
    throw new CommandError(`The worker ${visibleLine(worker_id)} has just ended.`);
  }
  context.print({ state: describeState(worker), ...worker }, () => {
    const { length } = worker.doing;
    const steps = length === 1 ? "1 step" : `${length} steps`;
    return `draining ${visibleLine(worker_id)}: it finishes ${steps}, takes no more, and ends.`;
  });
};

/** None where nothing was ever stored. */
export async function readWorkers(context: CommandContext): Promise<WorkerRecord[]> {
  const { url } = await findStoreOptions({ home: resolveHome(context), env: context.env });
  if (url === undefined) throw refuseOneMachine();
  const noneStored = (): WorkerRecord[] => [];
  return withReadOnlyStore(context, noneStored, (store) => requireCluster(store).workers());
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

function describeState({ draining, doing }: WorkerRecord): "draining" | "working" | "idle" {
  if (draining) return "draining";
  return doing.length > 0 ? "working" : "idle";
}

function describeStep({ task_id, step_id, since, session_id }: WorkerStep): string {
  const where = session_id === undefined ? "" : ` in ${session_id}`;
  return visibleLine(`${task_id} ${step_id}${where}, begun ${describeAge(since, Date.now())}`);
}

function describeDeclined({ task_id, step_id, why }: DeclinedStep): string {
  return visibleLine(`leaves ${task_id} ${step_id} to other workers: ${why}`);
}
