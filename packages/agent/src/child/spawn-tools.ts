// agent.create_sub_agent and agent.fork_agent: to the caller a call and its result, inside a run of its own (AGENT-1, 2).

import {
  type AnyTool,
  type InferOutput,
  type ToolContext,
  defineTool,
  type ConversationNode,
} from "@soong/core";
import { omitUndefined } from "@soong/schema";
import {
  type AgentParts,
  findDefinition,
  resolveExpectedOutput,
  startChild,
  resolveTimeout,
  resolveAllowedTools,
  type EndedChild,
} from "./start-child.ts";
import {
  BUILT_IN_DEFINITIONS,
  DEFAULT_FORK_AGENT,
  DEFAULT_SUB_AGENT,
} from "./built-in-definitions.ts";
import type { ChildRole } from "./child-prompt.ts";
import { toHandlerResult } from "./child-result.ts";
import { readMessage } from "../context/index.ts";

/** What starters have in common: they change nothing themselves, and their children are judged call by call (SURF-10). */
export const SPAWN_TOOL = {
  permission: "readonly",
  concurrency_safe: true,
  starts_agent: true,
  // A line the user types must not cost the work of several agents; an abort ends them.
  interrupt_behavior: "block",
  tags: ["agent"],
} as const;

const MOST_TASK_CHARS = 200_000;

export const ALLOWED_TOOLS_FIELD = {
  type: "array",
  items: { type: "string", minLength: 1 },
  maxItems: 200,
  description:
    'Canonical names or patterns of the tools it gets, such as "code.read_file" or "code.*". Default: the tools of its role. A name that is unknown, or that it can never have, is an error and nothing is started.',
} as const;

export function createSubAgentTool(parts: AgentParts): AnyTool {
  return defineTool({
    ...SPAWN_TOOL,
    name: "agent.create_sub_agent",
    title: "Start a sub agent",
    search_hint: "delegate task to sub agent",
    description:
      "Starts an agent on a task of its own and waits for its answer. It knows the task and the context you give it and nothing of this conversation, so write down all it needs. Calls next to each other run at the same time: use several for independent work. Its result has status, summary, findings and artifacts; one that fails costs nothing but itself. It cannot start agents, and its calls are judged and require approval as yours do.",
    input_schema: buildInputSchema(parts, {
      task: "What is to be done, and what the answer is to say.",
      agent_definition_id: `Which agent, from agent.list_agent_definitions. Default: ${DEFAULT_SUB_AGENT}.`,
      context: "What it has to know: facts, paths, decisions. It sees nothing else.",
    }),
    handler: (input, context) => spawnAgent(parts, "sub", input, context),
  });
}

export function forkAgentTool(parts: AgentParts): AnyTool {
  return defineTool({
    ...SPAWN_TOOL,
    name: "agent.fork_agent",
    title: "Fork this agent",
    search_hint: "fork conversation into parallel agent",
    description:
      "Starts an agent that has read this whole conversation up to your present answer, gives it a task of its own, and waits for what comes of it. Use it where explaining would take longer than doing: it costs the whole conversation once more. What it reads and does stays out of this conversation; its last message comes back. It cannot start agents.",
    input_schema: buildInputSchema(parts, {
      task: "What it is to do that you do not do yourself.",
      agent_definition_id: `Which agent, from agent.list_agent_definitions. Default: ${DEFAULT_FORK_AGENT}.`,
    }),
    handler: (input, context) => spawnAgent(parts, "fork", input, context),
  });
}

async function spawnAgent(
  parts: AgentParts,
  role: Extract<ChildRole, "sub" | "fork">,
  input: StartInput,
  context: ToolContext,
): Promise<unknown> {
  const active = parts.activeRuns.get(context);
  const id = input.agent_definition_id ?? (role === "sub" ? DEFAULT_SUB_AGENT : DEFAULT_FORK_AGENT);
  const definition = findDefinition(parts.catalog, id, role);
  const expected = resolveExpectedOutput(definition, input.expected_output_schema);
  const allowedTools = resolveAllowedTools(active, definition, input.allowed_tools);
  const { ids } = active;
  const ended = await startChild(parts, active, context, {
    role,
    definition,
    agent_id: ids.next("agent"),
    run_id: ids.next("run"),
    task: input.task,
    timeoutMs: resolveTimeout(definition, input.timeout_ms, parts.childTimeoutMs),
    ...omitUndefined({ context: input.context, expected, allowedTools }),
    ...(role === "fork" ? { history: forkPath(active.path()) } : {}),
  });
  return ended === undefined ? neverSettle() : told(ended);
}

function told({ result, answer }: EndedChild): unknown {
  return toHandlerResult(result, answer);
}

/** The call has its end already: a value now would only be on record as one that came too late. */
export function neverSettle(): Promise<never> {
  return new Promise(() => {});
}

function buildInputSchema(
  { childTimeoutMs, catalog }: AgentParts,
  says: Readonly<Record<"task" | "agent_definition_id", string>> & { readonly context?: string },
) {
  const own = [...catalog.definitions.values()].length > BUILT_IN_DEFINITIONS.length;
  return {
    type: "object",
    additionalProperties: false,
    required: ["task"],
    properties: {
      task: { type: "string", minLength: 1, maxLength: MOST_TASK_CHARS, description: says.task },
      ...(says.context === undefined
        ? {}
        : ({
            context: { type: "string", maxLength: MOST_TASK_CHARS, description: says.context },
          } as const)),
      agent_definition_id: {
        type: "string",
        minLength: 1,
        description: own
          ? `${says.agent_definition_id} There are some beside the built-in ones.`
          : says.agent_definition_id,
      },
      allowed_tools: { ...ALLOWED_TOOLS_FIELD, items: { ...ALLOWED_TOOLS_FIELD.items } },
      expected_output_schema: {
        type: "object",
        description:
          "A JSON Schema for its answer, which is then one JSON value. An answer that does not fit is sent back once; after that the call fails and has the text.",
      },
      timeout_ms: {
        type: "integer",
        minimum: 1,
        maximum: childTimeoutMs,
        description: `How long it may take, in milliseconds. Default and maximum: ${childTimeoutMs}.`,
      },
    },
  } as const;
}

type StartInput = InferOutput<ReturnType<typeof buildInputSchema>>;

/** `path`: root first. */
export function forkPath(path: readonly ConversationNode[]): readonly ConversationNode[] {
  const at = path.findLastIndex(({ kind }) => kind === "message");
  const last = path[at];
  const message = last === undefined ? undefined : readMessage(last);
  // What a crash left open further back was sent to the model as it was.
  if (message?.role !== "assistant") return path;
  const answered = new Set(path.slice(at).map(({ tool_call_id }) => tool_call_id));
  const isOpen = message.calls.some(({ tool_call_id }) => !answered.has(tool_call_id));
  return isOpen ? path.slice(0, at) : path;
}
