// The part of a runtime that is about agents: who can be started, the workers there are, tasks on the store, skills and
// memory of the home (AGENT-1, TASK-1, SKILL-1, MEM-1). Loaded only by what lets agents work or shows what they have.

import {
  createAgents,
  describeProblem,
  externalStartRecall,
  loadAgentCatalog,
  loadSkills,
  memoryTools,
  skillTools,
  startRecall,
  type Agents,
  type Model,
  type ModelsPort,
  type RemoteWorkers,
  type StartRecall,
  type WorkerPool,
} from "@soong/agent";
import {
  createClaimKeeper,
  createTasks,
  taskTools,
  type Tasks,
  type TaskStorage,
} from "@soong/tasks";
import type { AnyHook, CallIds, JsonObject, Roots } from "@soong/core";
import type { PatternPlaces } from "@soong/core/internal";
import type { Store } from "@soong/store";
import {
  fillArguments,
  overrideTool,
  type LoadedConfig,
  type SoongConfig,
} from "../config/index.ts";
import { findArchive, homePaths } from "./home.ts";
import { openInstructions, renderSystemText } from "./user-tools.ts";
import { openModels, type Environment } from "./models.ts";
import { openOnce } from "./open-once.ts";
import { findStoreUrl } from "./store-url.ts";
import { findPoolProblems } from "./worker-pools.ts";

export type RuntimeAgents = Awaited<ReturnType<typeof openAgents>>;

interface OpenAgentsOptions {
  readonly env: Environment;
  readonly config: LoadedConfig;
  readonly roots: Roots;
  readonly store: () => Promise<Store>;
  /** Of every session, and what their paths mean. */
  readonly hooks: readonly AnyHook[];
  readonly hookPlaces: PatternPlaces;
  /** This process is a worker: it has one pool, of its own. */
  readonly workerPool?: OwnPool | undefined;
}

export interface OwnPool {
  readonly name: string;
  readonly concurrency: number;
  /** Where it is, for the names of its workers. */
  readonly place: string;
}

export async function openAgents(options: OpenAgentsOptions) {
  const { env, config, roots, store, hooks, hookPlaces: places } = options;
  const { home, values } = config;
  const profiles = Object.keys(values.models.profiles);
  const catalog = await loadAgentCatalog({ folder: homePaths(home).agents, profiles });
  const skills = await loadSkills(homePaths(home).skills);
  const tasks = createTasks({
    storage: openTaskStorage(store),
    leaseMs: values.task.lease_ms,
    maxAttempts: values.task.max_attempts,
  });
  const keeper = createClaimKeeper({ tasks });
  const pools = buildWorkerPools(values, options.workerPool);
  const remote = pools.some((pool) => pool.remote === true)
    ? await openRemoteWorkers({ tasks, store, hooks, places, url: findStoreUrl(values, env) })
    : undefined;
  const agents = createAgents({
    catalog,
    childTimeoutMs: values.agents.child_timeout_ms,
    models: modelsPort(values, env),
    pools,
    tasks: { tasks, keeper },
    ...(remote?.workers !== undefined && { remote: remote.workers }),
    system: renderSystemText(roots.project),
    instructions: openInstructions(config, roots),
  });
  const findRun = (ids: CallIds): ReturnType<Agents["activeRuns"]["find"]> =>
    agents.activeRuns.find(ids);
  const sources = [
    agents.source,
    taskTools({ tasks, keeper, resolveCaller: (ids) => agents.resolveCaller(ids) }),
    skillTools({ folder: homePaths(home).skills, findRun }),
    memoryTools({
      folder: homePaths(home).memory,
      findRun,
      enabled: values.memory.enabled,
      recallTokens: values.memory.recall_tokens,
      external: createRecall(values),
      writing: createMemoryWriter(values, home),
    }),
  ];
  return {
    agents,
    catalog,
    tasks,
    keeper,
    async close() {
      // What cannot be given back is free when its lease ends.
      await keeper.close().catch(() => {});
      await remote?.close();
    },
    /** The memories a run begins with (MEM-4). */
    recall: createStartRecall(config, roots),
    /** For the kernel. */
    sources: sources.map((source) => ({
      ...source,
      tools: source.tools.map((tool) => overrideTool(tool, values)),
    })),
    /** Files of the home that cannot be used, each a sentence with its place. */
    problems: [
      ...[...catalog.problems, ...skills.problems].map(describeProblem),
      // A worker refuses its own.
      ...(options.workerPool === undefined ? findPoolProblems(values, catalog).values() : []),
    ],
  };
}

/** The pools of the config; without any there is one, so that a task can be worked on. */
export function buildWorkerPools({ agents }: SoongConfig, own?: OwnPool): WorkerPool[] {
  const pools = Object.entries(agents.worker_pools).map(
    ([name, { agent, ...pool }]): WorkerPool => ({ name, agent_definition_id: agent, ...pool }),
  );
  if (own !== undefined) {
    const { name, concurrency: size, place } = own;
    return [{ ...pools.find((pool) => pool.name === name), name, size, place, remote: false }];
  }
  return pools.length === 0 ? [{ name: "workers", size: 4 }] : pools;
}

interface OpenedRemoteWorkers {
  /** Undefined without a store that they share. */
  readonly workers: RemoteWorkers | undefined;
  close(): Promise<void>;
}

/** The queue is opened with the first dispatch. */
async function openRemoteWorkers(given: {
  readonly tasks: Tasks;
  readonly store: () => Promise<Store>;
  readonly hooks: readonly AnyHook[];
  readonly places: PatternPlaces;
  readonly url: string | undefined;
}): Promise<OpenedRemoteWorkers> {
  const { tasks, store, hooks, places, url } = given;
  if (url === undefined) return { workers: undefined, close: async () => {} };
  const { createRemoteWorkers, openJobQueue } = await import("@soong/worker");
  const queue = openOnce(() => openJobQueue(url));
  return {
    workers: createRemoteWorkers({ tasks, store, queue, hooks, places }),
    async close() {
      await (await queue.opened())?.close();
    },
  };
}

/** The store is opened with the first task someone asks for. */
function openTaskStorage(store: () => Promise<Store>): TaskStorage {
  return {
    change: async (selection, plan) => (await store()).tasks().change(selection, plan),
    read: async (selection) => (await store()).tasks().read(selection),
    list: async (page) => (await store()).tasks().list(page),
  };
}

/** One model for each reference: a script continues where it was. */
function modelsPort(values: SoongConfig, env: Environment): ModelsPort {
  const opened = new Map<string, Promise<readonly [Model, ...Model[]]>>();
  return (reference) => {
    const known = opened.get(reference);
    if (known !== undefined) return known;
    const opening = openModels(values, env, reference);
    opened.set(reference, opening);
    opening.catch(() => opened.delete(reference));
    return opening;
  };
}

function createMemoryWriter(
  { memory }: SoongConfig,
  home: string,
): Parameters<typeof memoryTools>[0]["writing"] {
  const { write_mode, external_tool: tool, write_arguments } = memory;
  if (write_mode === "disabled") return { mode: "disabled" };
  if (write_mode === "external" && tool !== undefined) {
    return { mode: "external", tool, mapArguments: createMapping(write_arguments) };
  }
  return { mode: "candidate", findArchive: ({ runId }) => findArchive(home, runId) };
}

function createRecall({ memory }: SoongConfig): Parameters<typeof memoryTools>[0]["external"] {
  const { provider, recall_tool: tool, recall_arguments } = memory;
  if (provider !== "external" || tool === undefined) return undefined;
  return { tool, mapArguments: createMapping(recall_arguments) };
}

type Mapping = (fields: Parameters<typeof fillArguments>[1]) => JsonObject;

function createMapping(template: string | undefined): Mapping | undefined {
  return template === undefined ? undefined : (fields) => fillArguments(template, fields);
}

function createStartRecall(
  { home, values }: LoadedConfig,
  { project }: Roots,
): StartRecall | undefined {
  const { enabled, start_tokens: tokens, start_arguments } = values.memory;
  if (!enabled || tokens === 0) return undefined;
  const recall = createRecall(values);
  if (recall === undefined) {
    return startRecall({ folder: homePaths(home).memory, project, tokens });
  }
  const mapArguments = createMapping(start_arguments) ?? recall.mapArguments;
  return externalStartRecall({ external: { ...recall, mapArguments }, project, tokens });
}
