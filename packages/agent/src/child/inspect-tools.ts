// agent.list_agent_definitions and agent.inspect_agent: who could be started, and what became of those who were.

import { defineTool, ToolFailure, toolResult, type AnyTool } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { AgentParts } from "./start-child.ts";
import { describeOrigin, type AgentDefinition } from "./agent-definition.ts";
import type { ChildEntry } from "./child-registry.ts";
import { readRecordedChild, type RecordedChild } from "./read-recorded-child.ts";

const READ_ONLY_TOOL = { permission: "readonly", concurrency_safe: true, tags: ["agent"] } as const;

export function listDefinitionsTool({ catalog }: AgentParts): AnyTool {
  return defineTool({
    ...READ_ONLY_TOOL,
    name: "agent.list_agent_definitions",
    title: "List the agents that can be started",
    search_hint: "available agent definitions",
    description:
      "Lists the agents there are: what each is for, what it can be started as, and the tools it may be given.",
    input_schema: {
      type: "object",
      additionalProperties: false,
      properties: {
        role: {
          type: "string",
          enum: ["sub", "fork", "worker"],
          description: "Only those that can be started so.",
        },
      },
    },
    handler: (input) => {
      const { role } = input;
      const all = [...catalog.definitions.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
      const shown = role === undefined ? all : catalog.startableAs(role);
      const text = shown.map(describeDefinition).join("\n");
      return toolResult({
        content: [{ type: "text", text }],
        data: { agent_definitions: shown.map(toDefinitionRecord) },
      });
    },
  });
}

function describeDefinition({ id, roles, description }: AgentDefinition): string {
  return `${id} (${roles.join(", ")}): ${description}`;
}

function toDefinitionRecord(definition: AgentDefinition) {
  const { id, name, description, roles, mode, model, allowed_tools, suggested_tools } = definition;
  return {
    id,
    ...omitUndefined({ name }),
    description,
    roles,
    ...omitUndefined({ mode, model, allowed_tools, suggested_tools }),
    has_output_schema: definition.expected_output_schema !== undefined,
    origin: describeOrigin(definition.origin),
  };
}

export function inspectAgentTool({ children, activeRuns }: AgentParts): AnyTool {
  return defineTool({
    ...READ_ONLY_TOOL,
    name: "agent.inspect_agent",
    title: "Inspect an agent",
    search_hint: "status of started agent",
    description:
      "Shows what became of an agent that was started in this session: its task, its status, the last things it did, what it waits for, its result and what it used. Give its agent_id or its run_id.",
    input_schema: {
      type: "object",
      additionalProperties: false,
      properties: {
        agent_id: { type: "string", minLength: 1 },
        run_id: { type: "string", minLength: 1 },
      },
    },
    validate: (input) => {
      const { agent_id, run_id } = input;
      return agent_id === undefined && run_id === undefined
        ? "give the agent_id or the run_id of an agent that was started"
        : undefined;
    },
    handler: async (input, context) => {
      const found = children.find(context.sessionId, input);
      if (found !== undefined) return renderChild(found);
      const active = activeRuns.find(context);
      const kept =
        active === undefined ? undefined : await readRecordedChild(active.session, input);
      if (kept !== undefined) return renderRecordedChild(kept);
      const known = children.list(context.sessionId).slice(-MOST_NAMED);
      const names = known.map(({ agent_id, run_id }) => `${agent_id} (${run_id})`).join(", ");
      throw new ToolFailure({
        code: "unknown_agent",
        error_class: "invalid_arguments",
        message: `No agent that was started in this session has these ids.${names === "" ? "" : ` Those that were last: ${names}.`}`,
        recovery: "change_arguments",
        retryable: true,
      });
    },
  });
}

const MOST_NAMED = 20;

function renderRecordedChild(child: RecordedChild): unknown {
  const { agent_id, run_id, agent_definition_id, role, task, status, summary } = child;
  const text = [
    `${role} agent ${agent_definition_id} (${agent_id}, run ${run_id}): ${status}, started before this runtime was`,
    `Its task: ${task}`,
    ...(summary === undefined ? [] : [`Its summary: ${summary}`]),
  ].join("\n");
  return toolResult({ content: [{ type: "text", text }], data: child });
}

function renderChild(entry: ChildEntry): unknown {
  const { agent_id, run_id, agent_definition_id, role, task, status, lines, result } = entry;
  const waiting = [...entry.waiting_for];
  const text = [
    `${role} agent ${agent_definition_id} (${agent_id}, run ${run_id}): ${status}, since ${entry.started_at}`,
    ...(waiting.length === 0 ? [] : [`It waits for approval of ${waiting.join(", ")}.`]),
    `Its task: ${task}`,
    ...(result === undefined ? [] : [`Its summary: ${result.summary}`]),
    ...(result?.error === undefined ? [] : [`What went wrong: ${result.error.message}`]),
    ...(lines.length === 0 ? [] : ["The last it did:", ...lines.map((line) => `- ${line}`)]),
  ].join("\n");
  const { waiting_for: _set, ...record } = entry;
  return toolResult({
    content: [{ type: "text", text }],
    data: { ...record, waiting_for: waiting },
  });
}
