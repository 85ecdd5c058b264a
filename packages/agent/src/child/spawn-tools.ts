// agent.create_sub_agent and agent.fork_agent: to the caller a call and its result, inside a run of its own (AGENT-1, 2).

import {
  defineTool,
  toolResult,
  type AnyTool,
  type ConversationNode,
  type InferOutput,
  type ToolContext,
} from "@soong/core";
import { readMessage } from "../context/index.ts";
import { BUILT_IN_DEFINITIONS, DEFAULT_FORK_AGENT, DEFAULT_SUB_AGENT } from "./agent-catalog.ts";
import { toHandlerResult } from "./child-result.ts";
import {
  findDefinition,
  resolveAllowedTools,
  resolveExpectedOutput,
  skipsMissingTools,
  startChild,
  type AgentParts,
} from "./run-child.ts";

export const READ_ONLY_TOOL = {
  permission: "readonly",
  concurrency_safe: true,
  tags: ["agent"],
} as const;

/** What starters have in common: they change nothing themselves, and their children are judged call by call (SURF-10). */
export const SPAWN_TOOL = {
  ...READ_ONLY_TOOL,
  starts_agent: true,
  // A line the user types must not cost the work of several agents; an abort ends them.
  interrupt_behavior: "block",
} as const;

export const ALLOWED_TOOLS_FIELD = {
  type: "array",
  items: { type: "string", minLength: 1 },
  maxItems: 200,
  description:
    'Canonical names or patterns of the tools it gets, such as "code.read_file" or "code.*". Default: the tools of its role. A name that is unknown, or that it can never have, is an error and nothing is started.',
} as const;

const MOST_TASK_CHARS = 200_000;

const SPAWNS = {
  sub: {
    name: "agent.create_sub_agent",
    title: "Start a sub agent",
    search_hint: "delegate task to sub agent",
    description:
      "Starts an agent on a task of its own and waits for its answer. It knows the task and the context you give it and nothing of this conversation, so write down all it needs. Calls next to each other run at the same time: use several for independent work. Its result has status, summary, findings and artifacts; one that fails costs nothing but itself. It cannot start agents, and its calls are judged and require approval as yours do.",
    task: "What is to be done, and what the answer is to say.",
    context: {
      context: {
        type: "string",
        maxLength: MOST_TASK_CHARS,
        description: "What it has to know: facts, paths, decisions. It sees nothing else.",
      },
    },
    definition: DEFAULT_SUB_AGENT,
  },
  fork: {
    name: "agent.fork_agent",
    title: "Fork this agent",
    search_hint: "fork conversation into parallel agent",
    description:
      "Starts an agent that has read this whole conversation up to your present answer, gives it a task of its own, and waits for what comes of it. Use it where explaining would take longer than doing: it costs the whole conversation once more. What it reads and does stays out of this conversation; its last message comes back. It cannot start agents.",
    task: "What it is to do that you do not do yourself.",
    context: {},
    definition: DEFAULT_FORK_AGENT,
  },
} as const;

type SpawnRole = keyof typeof SPAWNS;

/** agent.create_sub_agent or agent.fork_agent. */
export function spawnTool(parts: AgentParts, role: SpawnRole): AnyTool {
  const { name, title, search_hint, description } = SPAWNS[role];
  return defineTool({
    ...SPAWN_TOOL,
    name,
    title,
    search_hint,
    description,
    input_schema: buildInputSchema(parts, role),
    handler: (input, context) => spawnAgent(parts, role, input, context),
  });
}

async function spawnAgent(
  parts: AgentParts,
  role: SpawnRole,
  input: StartInput,
  context: ToolContext,
): Promise<unknown> {
  const active = parts.activeRuns.get(context);
  const id = input.agent_definition_id ?? SPAWNS[role].definition;
  const definition = findDefinition(parts.catalog, id, role);
  const allowedTools = resolveAllowedTools(active, definition, input.allowed_tools);
  const ended = await startChild(parts, active, context, {
    role,
    definition,
    expected: resolveExpectedOutput(definition, input.expected_output_schema),
    allowedTools,
    skipMissingTools: skipsMissingTools(definition, allowedTools),
    agent_id: active.ids.next("agent"),
    run_id: active.ids.next("run"),
    task: input.task,
    context: input.context,
    timeoutMs: input.timeout_ms,
    history: role === "fork" ? forkPath(active.path()) : undefined,
  });
  // The call has its end already: a value now would only be on record as one that came too late.
  return ended === undefined ? new Promise(() => {}) : toHandlerResult(ended.result, ended.answer);
}

function buildInputSchema({ childTimeoutMs, catalog }: AgentParts, role: SpawnRole) {
  const { task, context, definition } = SPAWNS[role];
  const hasOwn = catalog.definitions.size > BUILT_IN_DEFINITIONS.length;
  const others = hasOwn ? " There are some beside the built-in ones." : "";
  return {
    type: "object",
    additionalProperties: false,
    required: ["task"],
    properties: {
      task: { type: "string", minLength: 1, maxLength: MOST_TASK_CHARS, description: task },
      ...(context as Partial<(typeof SPAWNS)["sub"]["context"]>),
      agent_definition_id: {
        type: "string",
        minLength: 1,
        description: `Which agent, from agent.list_agent_definitions. Default: ${definition}.${others}`,
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

// agent.plan_template (PLAN-1): how a plan is written, as a node of the conversation. It writes nothing anywhere.

const TEMPLATE = `How to write a plan. Fill in each part, in this order, and omit none; write "none" where there is nothing.

1. Goal: in one or two sentences, what will be true when this is done, and how a user can check that it is.
2. What is known: facts you have read yourself, each with where (file and line, command, page). Mark what you only suppose.
3. Open questions: what you do not know and who or what can answer it. Ask the user only what no tool can answer.
4. Steps: numbered, each small enough to be checked on its own. For each: what changes and where, what it depends on, how it is checked, and whether it can run beside others.
5. What could go wrong: for each risk, how it would be noticed and what would then be done; what cannot be taken back.
6. Not part of this: what a reader might expect and you will not do.

A plan is text. It changes nothing and allows nothing: each step is judged when it is done.`;

export function planTemplateTool(): AnyTool {
  return defineTool({
    name: "agent.plan_template",
    title: "Get the form of a plan",
    search_hint: "how to write a plan",
    description:
      "Puts the form of a good plan into the conversation: goal, what is known, open questions, steps, risks. Call it before you write a plan. It writes nothing.",
    ...READ_ONLY_TOOL,
    input_schema: { type: "object", additionalProperties: false, properties: {} },
    handler: () =>
      toolResult({
        content: [{ type: "text", text: "The form of a plan follows. Write yours after it." }],
        context_nodes: [{ kind: "plan_instruction", text: TEMPLATE }],
      }),
  });
}
