// A session as something to talk to: its loop, going on where its main agent left off.

import {
  openConversation,
  readHistory,
  type Conversation,
  type History,
  type Model,
} from "@soong/agent";
import type { ConversationNode, Mode } from "@soong/core";
import { loopLimitsOf, type LoadedConfig } from "../config/index.ts";
import {
  instructionsOf,
  systemText,
  toolSupplyOf,
  type KeptSession,
  type Runtime,
} from "../runtime/index.ts";

export interface OpenLoopOptions {
  readonly held: KeptSession;
  readonly runtime: Pick<Runtime, "roots" | "mcp" | "ready">;
  readonly config: LoadedConfig;
  readonly models: readonly [Model, ...Model[]];
  readonly mode: Mode | undefined;
  /** Whose conversation it is; left out: the one that `mainAgentOf` finds, or a new one. */
  readonly agent_id?: string;
  /** Of the first run. */
  readonly run_id?: string;
}

export async function openLoop(options: OpenLoopOptions): Promise<OpenedLoop> {
  const { held, runtime, config, models, mode, run_id } = options;
  const agent_id = options.agent_id ?? (await mainAgentOf(held));
  const { history, unrecorded } =
    agent_id === undefined ? NOTHING_SAID : await historyOf(held, agent_id);
  const instructions = instructionsOf(config, runtime.roots);
  const supply = toolSupplyOf(runtime, config.values.mcp);
  const conversation = await openConversation({
    session: held.session,
    models,
    history,
    unrecorded,
    system: systemText(runtime.roots.project),
    ...(instructions === undefined ? {} : { instructions }),
    ...(supply === undefined ? {} : { supply }),
    limits: definedOnly(loopLimitsOf(config.values)),
    run: {
      ...(mode === undefined ? {} : { mode }),
      ...(agent_id === undefined ? {} : { agent_id }),
      ...(run_id === undefined ? {} : { run_id }),
    },
  });
  return { conversation, history };
}

export interface OpenedLoop {
  readonly conversation: Conversation;
  /** What was said before, root first. */
  readonly history: readonly ConversationNode[];
}

async function mainAgentOf({ kept }: KeptSession): Promise<string | undefined> {
  const agents = await kept.reader.agents();
  return agents.find((agent) => agent.parent_agent_id === undefined)?.agent_id;
}

const NOTHING_SAID: History = { history: [], unrecorded: [] };

/** An agent that has not said anything yet is not known there. */
async function historyOf({ kept }: KeptSession, agent_id: string): Promise<History> {
  const agents = await kept.reader.agents();
  const isKnown = agents.some((agent) => agent.agent_id === agent_id);
  return isKnown ? readHistory(kept.reader, agent_id) : NOTHING_SAID;
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

function definedOnly<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
}
