// A session as something to talk to: its loop, continuing where its main agent ended.

import {
  openConversation,
  readHistory,
  type AgentDefinition,
  type Conversation,
  type ExpectedOutput,
  type Model,
} from "@soong/agent";
import { RUNTIME_RESTARTED, type ConversationNode, type Mode, type RunOptions } from "@soong/core";
import { buildLoopLimits, type LoadedConfig } from "../config/index.ts";
import { openInstructions, renderSystemText } from "../runtime/user-tools.ts";
import { createToolProvider } from "../runtime/servers.ts";
import type { StoredSession, Runtime } from "../runtime/open-runtime.ts";

export interface OpenLoopOptions {
  readonly held: StoredSession;
  readonly runtime: Pick<Runtime, "roots" | "agents" | "mcp" | "ready">;
  readonly config: LoadedConfig;
  readonly models: readonly [Model, ...Model[]];
  readonly mode: Mode | undefined;
  /** The agent it is a conversation with; default: the plain one. */
  readonly definition?: AgentDefinition | undefined;
  /** Whose conversation it is; default: the main one of the session, or a new one. */
  readonly agent_id?: string;
  /** Of the first run. */
  readonly run_id?: string;
  /** The form its final answers have to have. */
  readonly expected?: ExpectedOutput | undefined;
}

export async function openLoop(options: OpenLoopOptions): Promise<OpenedLoop> {
  const { held, runtime, config, models, mode, run_id, definition, expected } = options;
  const agents = await held.kept.reader.agents();
  const main = agents.find((agent) => agent.parent_agent_id === undefined);
  const { agent_id = main?.agent_id } = options;
  // An agent that has not said anything yet is not known there.
  const isKnown = agents.some((agent) => agent.agent_id === agent_id);
  const { history, unrecorded } =
    agent_id === undefined || !isKnown
      ? { history: [], unrecorded: [] }
      : await readHistory(held.kept.reader, agent_id);
  const conversation = await openConversation({
    session: held.session,
    models,
    history,
    unrecorded,
    system: [
      ...renderSystemText(runtime.roots.project),
      ...(definition === undefined ? [] : [definition.system]),
      ...(expected === undefined ? [] : [expected.wanted]),
    ],
    checkAnswer: expected && ((answer) => expected.requestCorrection(answer)),
    agent_definition_id: definition?.id,
    runRegistry: runtime.agents?.agents.activeRuns,
    board: runtime.agents?.agents.board,
    onText: held.addText,
    recall: runtime.agents?.recall,
    instructions: openInstructions(config, runtime.roots),
    toolProvider: createToolProvider(runtime, config.values.mcp),
    limits: buildLimits(config, definition),
    run: { ...readWishes(config, definition), mode, agent_id, run_id },
  });
  const interrupted =
    agent_id === undefined ? undefined : await findInterruption(held, agent_id, history);
  return { conversation, history, interrupted };
}

export interface OpenedLoop {
  readonly conversation: Conversation;
  /** What was said before, root first. */
  readonly history: readonly ConversationNode[];
  /** Set where the last run of the agent left something for the model to continue with (STORE-5). */
  readonly interrupted: Interruption | undefined;
}

/** `restarted`: the runtime was stopped in the middle of it. `ended`: it failed or was aborted, and that is on record. */
export type Interruption = "restarted" | "ended";

async function findInterruption(
  { kept }: StoredSession,
  agent_id: string,
  history: readonly ConversationNode[],
): Promise<Interruption | undefined> {
  const last = (await kept.reader.runs()).findLast((run) => run.agent_id === agent_id);
  if (last === undefined || last.status === "completed" || isFinalAnswer(history.at(-1))) {
    return undefined;
  }
  const [end] = await kept.reader.facts({
    run_id: last.run_id,
    before: Number.MAX_SAFE_INTEGER,
    limit: 1,
  });
  const isLost = end?.type === "run.failed" && end.data.reason === RUNTIME_RESTARTED;
  return isLost ? "restarted" : "ended";
}

/** The model has said what it had to say: there is nothing to ask it again. */
function isFinalAnswer(node: ConversationNode | undefined): boolean {
  return node === undefined || (node.kind === "message" && node.data?.["role"] === "assistant");
}

function buildLimits(
  { values }: LoadedConfig,
  definition: AgentDefinition | undefined,
): ReturnType<typeof buildLoopLimits> {
  const limits = buildLoopLimits(values);
  const { max_turns = limits.max_turns } = definition ?? {};
  return { ...limits, max_turns: Math.min(limits.max_turns, max_turns) };
}

/** What a definition asks for and forbids; it grants nothing (SURF-4). */
function readWishes({ values }: LoadedConfig, definition: AgentDefinition | undefined): RunOptions {
  const { suggested_tools = [], allowed_tools, skip_missing_tools, rules } = definition ?? {};
  const { write_mode, external_tool, provider, recall_tool } = values.memory;
  // Called from within a call, they cannot be searched for first.
  const forMemory = [
    write_mode === "external" ? external_tool : undefined,
    provider === "external" ? recall_tool : undefined,
  ].filter((tool) => tool !== undefined);
  const suggestedTools = [...suggested_tools, ...forMemory];
  return {
    suggestedTools: suggestedTools.length === 0 ? undefined : suggestedTools,
    allowedTools: allowed_tools,
    skipMissingTools: skip_missing_tools,
    policy: rules && { rules },
  };
}
