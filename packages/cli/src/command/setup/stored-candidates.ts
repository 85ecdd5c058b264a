// Ids and names of now, for the completion of shells.

import { listMemories, loadAgentCatalog } from "@soong/agent";
import type { SessionRecord, Store } from "@soong/store";
import { taskReader } from "@soong/tasks";
import { loadConfig } from "../../config/index.ts";
import { describeAge } from "../../output/index.ts";
import { homePaths } from "../../runtime/home.ts";
import { loadUserServers } from "../../runtime/servers.ts";
import { resolveHome, withRuntime } from "../context.ts";
import type { CommandContext } from "../handler.ts";
import { readConversationPoints } from "../sessions/rewind.ts";
import {
  resolveProjectPath,
  resolveSession,
  shortenSessionIds,
  withReadOnlyStore,
} from "../stored.ts";

export interface Candidate {
  readonly value: string;
  readonly about?: string;
}

const MOST = 50;

/** Those of this project first; short, unless the whole id is being typed. */
export function listSessionIds(context: CommandContext, current: string): Promise<Candidate[]> {
  return read(context, async (store) => {
    const project = await resolveProjectPath(context.cwd);
    const here = await store.sessions({ project, limit: MOST });
    const elsewhere = await store.sessions({ limit: MOST });
    const all = [...new Map([...here, ...elsewhere].map((one) => [one.session_id, one])).values()];
    const ids = all.map(({ session_id }) => session_id);
    const isWhole = current !== "" && ids.some((id) => id.startsWith(current));
    const values = isWhole ? ids : await shortenSessionIds(store, ids);
    return all.map((record, at) => ({ value: values[at] ?? "", about: describeSession(record) }));
  });
}

function describeSession({ title = "", updated_at }: SessionRecord): string {
  return `${title}  ${describeAge(updated_at, Date.now())}`.trimStart();
}

/** A session means its newest run. */
export async function listRunIds(context: CommandContext, current: string): Promise<Candidate[]> {
  if (!current.startsWith("run")) return listSessionIds(context, current);
  return read(context, async (store) => {
    const runs = await store.findRuns({ idPrefix: current, limit: MOST });
    return runs.map(({ run_id, status, started_at }) => ({
      value: run_id,
      about: `${status}  ${describeAge(started_at, Date.now())}`,
    }));
  });
}

/** Of the newest session of this project, newest first. */
export function listCallIds(context: CommandContext): Promise<Candidate[]> {
  return read(context, async (store) => {
    const { session_id } = await resolveSession(context, store);
    const calls = await (await store.readSession(session_id)).calls();
    return calls
      .slice(-MOST)
      .toReversed()
      .map(({ tool_call_id, tool_name }) => ({ value: tool_call_id, about: tool_name }));
  });
}

export function listNodeIds(
  context: CommandContext,
  session: string | undefined,
): Promise<Candidate[]> {
  return read(context, async (store) => {
    const { session_id } = await resolveSession(context, store, session, { isConversation: true });
    const points = await readConversationPoints(await store.readSession(session_id));
    return points.map(({ node_id, prompt }) => ({ value: node_id, about: `before: ${prompt}` }));
  });
}

export function listTaskIds(context: CommandContext): Promise<Candidate[]> {
  return read(context, async (store) => {
    const tasks = await taskReader(store.tasks()).list({ limit: MOST });
    return tasks.map(({ task_id, title }) => ({ value: task_id, about: title }));
  });
}

/** What an id is of depends on the command. */
export async function listIdsOf(
  command: string,
  context: CommandContext,
  current: string,
): Promise<Candidate[]> {
  switch (command) {
    case "sessions rm":
      return listSessionIds(context, current);
    case "memory forget": {
      const { entries } = await listMemories(homePaths(resolveHome(context)).memory);
      return entries.map(({ id, content }) => ({ value: id, about: content }));
    }
    case "questions answer":
      return read(context, async (store) =>
        (await store.questions().list()).flatMap(({ question_id, tool_name, state }) =>
          state === "open" ? [{ value: question_id, about: tool_name }] : [],
        ),
      );
    case "grants revoke": {
      const { listLiveGrants } = await import("../live/grants.ts");
      const granted = await listLiveGrants(context);
      return granted.map(({ grant }) => ({ value: grant.grant_id, about: grant.covers }));
    }
    case "workers drain": {
      const { readWorkers } = await import("../live/workers.ts");
      const workers = await readWorkers(context);
      return workers.map(({ worker_id, pool, host }) => ({
        value: worker_id,
        about: `${pool} on ${host}`,
      }));
    }
    default:
      return [];
  }
}

/** Without those of servers, which are not started for this: only the beginning of their names. */
export function listToolNames(context: CommandContext): Promise<Candidate[]> {
  return withRuntime(context, {}, { servers: "none", agents: true, note() {} }, async (runtime) => {
    const { tools } = runtime.kernel.registry.snapshot();
    const servers = await listServerIds(context);
    return [
      ...[...tools.values()].map(({ name, definition }) => ({
        value: name,
        about: definition.description.split("\n")[0] ?? "",
      })),
      ...servers.map(({ value }) => ({ value: `mcp.${value}.` })),
    ];
  });
}

export async function listModels(context: CommandContext): Promise<Candidate[]> {
  const { values } = await loadConfig({ home: resolveHome(context) });
  const profiles = Object.entries(values.models.profiles).map(([value, { model }]) => ({
    value,
    about: model,
  }));
  const { default: standard } = values.model;
  return [...profiles, ...(standard === undefined ? [] : [{ value: standard, about: "default" }])];
}

export async function listAgentIds(context: CommandContext): Promise<Candidate[]> {
  const home = resolveHome(context);
  const config = await loadConfig({ home }).catch(() => undefined);
  const { definitions } = await loadAgentCatalog({
    folder: homePaths(home).agents,
    profiles: Object.keys(config?.values.models.profiles ?? {}),
  });
  return [...definitions.values()]
    .filter(({ roles }) => roles.includes("main"))
    .map(({ id, description }) => ({ value: id, about: description }));
}

export async function listServerIds(context: CommandContext): Promise<Candidate[]> {
  const home = resolveHome(context);
  const { values } = await loadConfig({ home });
  const { entries } = await loadUserServers(home, context.env, values.mcp);
  return entries.map(({ server_id }) => ({ value: server_id }));
}

function read(
  context: CommandContext,
  work: (store: Store) => Promise<Candidate[]>,
): Promise<Candidate[]> {
  const noneStored = (): Candidate[] => [];
  return withReadOnlyStore<Candidate[]>(context, noneStored, work);
}
