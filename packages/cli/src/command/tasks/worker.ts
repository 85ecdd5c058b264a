// `soong worker`: a process that does the steps of a pool, dispatched on any machine with the same store (DIST-1). After a signal it
// finishes the steps it has; those that take longer than `--grace` are stopped and given back.

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { loopLimits } from "@soong/agent";
import { messageOf } from "@soong/core";
import { listWorkerDefaults } from "@soong/core/internal";
import { resolveRulePath } from "@soong/tools";
import { listGuards, openJobQueue, runWorker, type WorkerHost } from "@soong/worker";
import { nearestName } from "@soong/schema";
import { buildLoopLimits, type SoongConfig } from "../../config/index.ts";
import { CommandError, EXIT, UsageError, visibleLine } from "../../output/index.ts";
import { openModels } from "../../runtime/models.ts";
import type { Runtime } from "../../runtime/open-runtime.ts";
import { createToolProvider } from "../../runtime/servers.ts";
import { hookPlaces } from "../../runtime/places.ts";
import { findPoolProblems, listRemotePools } from "../../runtime/worker-pools.ts";
import { findStoreUrl } from "../../runtime/store-url.ts";
import { loadUserConfig, withRuntime } from "../context.ts";
import type { Handler } from "../handler.ts";
import { onTermination } from "../signals.ts";
import { VERSION } from "../version.ts";

const MOST_LOCK_MS = 10_000;

export const runWorkerProcess: Handler<"worker"> = async (context, _arguments, options) => {
  const { env, output } = context;
  const { pool, project } = options;
  if (project !== undefined && options.cwd !== undefined) {
    throw new UsageError("--project and --cwd both name the directory of the worker; give one.");
  }
  if (pool === undefined) {
    throw new UsageError("Name the pool: `soong worker --pool NAME`.");
  }
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(pool)) {
    throw new UsageError(
      `--pool is ${visibleLine(pool)}; a pool is named with letters, digits, _ and -.`,
    );
  }
  const concurrency = readNumber("--concurrency", options.concurrency ?? "1", [1, 64]);
  const graceMs = 1_000 * readNumber("--grace", options.grace ?? "30", [0, 86_400]);
  const config = await loadUserConfig(context);
  const url = findStoreUrl(config.values, env);
  if (url === undefined) {
    throw new CommandError(
      "A worker needs a store that machines share: set store.url in config.toml, or SOONG_STORE_URL.",
    );
  }
  refuseUnknownPool(pool, config.values);
  const models = await openModels(config.values, env, options.model);
  // Unique for each process: there may be several on one machine.
  const place = `${hostname()}-${randomUUID().slice(0, 8)}`;
  const wish = {
    config,
    agents: true,
    workerPool: { name: pool, concurrency, place },
    waitForAnyone: true,
  };
  const flags = { ...options, ...(project !== undefined && { cwd: project }) };
  return withRuntime(context, flags, wish, async (runtime) => {
    const host = await createHost(runtime, models);
    const { cluster } = host.store;
    if (cluster === undefined) {
      throw new CommandError("A worker needs a store that machines share; this one is SQLite.");
    }
    const drain = new AbortController();
    const startDrain = (): void => drain.abort();
    const stopListening = [context.interrupts.on(startDrain), onTermination(startDrain)];
    const queue = await openJobQueue(url, {
      // A worker that is killed before its claim delays the step no longer than a claim would.
      lockMs: Math.min(MOST_LOCK_MS, config.values.task.lease_ms),
      onError: (error) => output.note(`warning: ${visibleLine(messageOf(error))}`),
    });
    try {
      const worker_id = `${pool}@${place}`;
      const atOnce = concurrency === 1 ? "1 step" : `${concurrency} steps`;
      output.line(
        `Worker ${worker_id} takes steps of the pool ${pool}, ${atOnce} at a time, in ${visibleLine(runtime.roots.project)}.`,
      );
      const { stopped } = await runWorker({
        host,
        cluster,
        queue,
        worker_id,
        pool,
        concurrency,
        version: VERSION,
        drain: drain.signal,
        graceMs,
      });
      const many = stopped === 1 ? "1 step was" : `${stopped} steps were`;
      output.line(
        `The worker has ended.${stopped === 0 ? "" : ` ${many} stopped, for another worker.`}`,
      );
      return stopped > 0 ? EXIT.interrupted : EXIT.ok;
    } finally {
      for (const forget of stopListening) forget();
      await queue.close();
    }
  });

  async function createHost(runtime: Runtime, opened: WorkerHost["models"]): Promise<WorkerHost> {
    const { agents, roots, policy } = runtime;
    if (agents === undefined) throw new CommandError("There are no agents in this runtime.");
    const problem = findPoolProblems(config.values, agents.catalog).get(pool ?? "");
    if (problem !== undefined) throw new UsageError(problem);
    const { home, tmp_dir, protected_roots, case_insensitive_paths } = policy;
    const canonicalTool = (name: string): string =>
      runtime.kernel.registry.snapshot().aliases.get(name) ?? name;
    return {
      store: await runtime.store(),
      tasks: agents.tasks,
      keeper: agents.keeper,
      agents: agents.agents,
      models: opened,
      canonicalTool,
      defaultTools: () => listWorkerDefaults(runtime.kernel.registry.snapshot().tools.values()),
      hasTool: (name) => runtime.kernel.registry.snapshot().tools.has(canonicalTool(name)),
      checkModel: (reference) => openModels(config.values, env, reference),
      limits: loopLimits(buildLoopLimits(config.values)),
      toolProvider: createToolProvider(runtime, config.values.mcp),
      guards: listGuards(runtime.hooks, hookPlaces(runtime)),
      places: {
        roots,
        home,
        tmp_dir,
        protected_roots,
        case_insensitive_paths,
        resolvePath: resolveRulePath,
      },
      async openSession(about) {
        const held = await runtime.openSession({ ...about, project: roots.project });
        return {
          session: held.session,
          onAbort: (listener) => held.onAbort((reason) => listener(reason)),
          lost: held.kept.lost,
          close: () => held.close(),
        };
      },
      report: (line) => output.line(visibleLine(line)),
    };
  }
};

/** The config of the pool bounds what a job may ask for. */
function refuseUnknownPool(pool: string, values: SoongConfig): void {
  const remote = listRemotePools(values);
  if (remote.includes(pool)) return;
  const near = nearestName(pool, remote);
  const hint =
    near === undefined
      ? `Add [agents.worker_pools.${pool}] with remote = true, and what its workers may use.`
      : `Did you mean ${near}?`;
  throw new UsageError(`config.toml of this home has no remote pool ${pool}. ${hint}`);
}

function readNumber(name: string, given: string, [least, most]: readonly [number, number]): number {
  const number = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(
    `${name} is ${visibleLine(given)}; it is a number from ${least} to ${most}.`,
  );
}
