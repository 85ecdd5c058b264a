// agent.list_agent_definitions and agent.inspect_agent: who could be started, and what became of those who were.

import {
  defineTool,
  isTerminalFact,
  ToolFailure,
  toolResult,
  type AnyTool,
  type Fact,
  type FactData,
  type Journal,
  type Resource,
} from "@soong/core";
import { primaryArgument, readCallClass } from "@soong/core/internal";
import { oneLine } from "@soong/schema";
import type { EarlierCall } from "@soong/tasks";
import { matchesIds, type ChildEntry, type ChildIds } from "./active-runs.ts";
import { describeOrigin, type AgentDefinition } from "./agent-catalog.ts";
import type { AgentParts } from "./run-child.ts";
import { READ_ONLY_TOOL } from "./spawn-tools.ts";

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
      const text = shown
        .map(({ id, roles, description }) => `${id} (${roles.join(", ")}): ${description}`)
        .join("\n");
      return toolResult({
        content: [{ type: "text", text }],
        data: { agent_definitions: shown.map(toDefinitionRecord) },
      });
    },
  });
}

function toDefinitionRecord(definition: AgentDefinition) {
  const { id, name, description, roles, mode, model, allowed_tools, suggested_tools } = definition;
  return {
    id,
    name,
    description,
    roles,
    mode,
    model,
    allowed_tools,
    suggested_tools,
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
        active === undefined ? undefined : await readRecordedChild(active.session.journal, input);
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

function describeChild({ role, agent_definition_id, agent_id, run_id, status }: RecordedChild) {
  return `${role} agent ${agent_definition_id} (${agent_id}, run ${run_id}): ${status}`;
}

function renderRecordedChild(child: RecordedChild): unknown {
  const text = [
    `${describeChild(child)}, started before this runtime was`,
    `Its task: ${child.task}`,
    ...(child.summary === undefined ? [] : [`Its summary: ${child.summary}`]),
  ].join("\n");
  return toolResult({ content: [{ type: "text", text }], data: child });
}

function renderChild(entry: ChildEntry): unknown {
  const { task, lines, result, started_at } = entry;
  const waiting_for = [...entry.waiting_for];
  const text = [
    `${describeChild(entry)}, since ${started_at}`,
    ...(waiting_for.length === 0 ? [] : [`It waits for approval of ${waiting_for.join(", ")}.`]),
    `Its task: ${task}`,
    ...(result === undefined ? [] : [`Its summary: ${result.summary}`]),
    ...(result?.error === undefined ? [] : [`What went wrong: ${result.error.message}`]),
    ...(lines.length === 0 ? [] : ["The last it did:", ...lines.map((line) => `- ${line}`)]),
  ].join("\n");
  return toolResult({ content: [{ type: "text", text }], data: { ...entry, waiting_for } });
}

interface RecordedChild extends Required<ChildIds> {
  readonly agent_definition_id: string;
  readonly role: string;
  readonly task: string;
  readonly status: string;
  /** Absent where the runtime was stopped before its end. */
  readonly summary?: string;
}

/** A child of an earlier process: what its parent's facts say of it, and its own last one. */
async function readRecordedChild(
  journal: JournalReader,
  ids: ChildIds,
): Promise<RecordedChild | undefined> {
  let found: RecordedChild | undefined;
  for await (const fact of readFacts(journal)) {
    if (fact.type === "agent.child.created") {
      const { child_agent_id, child_run_id, agent_definition_id, role, task } = fact.data;
      const child = { agent_id: child_agent_id, run_id: child_run_id };
      if (!matchesIds(ids, child)) continue;
      found = { ...child, agent_definition_id, role, task, status: "running" };
    } else if (found !== undefined) found = { ...found, ...readChildEnd(found, fact) };
  }
  return found;
}

function readChildEnd({ run_id }: RecordedChild, fact: Fact): Partial<RecordedChild> {
  switch (fact.type) {
    case "agent.child.completed":
    case "agent.child.failed":
    case "agent.child.cancelled": {
      const { child_run_id, status, summary } = fact.data;
      return child_run_id === run_id ? { status, summary } : {};
    }
    case "run.completed":
    case "run.failed":
    case "run.aborted":
      return fact.run_id === run_id ? { status: fact.type.slice("run.".length) } : {};
    default:
      return {};
  }
}

type JournalReader = Pick<Journal, "read">;

const PAGE = 1000;

async function* readFacts(journal: JournalReader): AsyncGenerator<Fact, undefined> {
  for (let after = 0; ;) {
    const page = await journal.read(after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return undefined;
    after = last.seq;
  }
}

const MOST_CALLS = 40;
const TARGET_CHARS = 200;

/**
 * What runs of a session did to the outside: the calls that began and may have changed something, with how each ended. After a
 * crash those are the ones whose end is unknown, and they come first where not all fit.
 */
export async function readEarlierCalls(
  journal: JournalReader,
  run_ids: readonly string[],
): Promise<readonly EarlierCall[]> {
  const calls = new Map<string, EarlierCall & { wrote: boolean }>();
  for await (const fact of readFacts(journal)) {
    if (run_ids.includes(fact.run_id ?? "")) applyCallFact(calls, fact);
  }
  const wrote = [...calls.values()].flatMap(({ wrote: did, ...call }) => (did ? [call] : []));
  const isKnown = ({ status }: EarlierCall): number => (status === "unknown" ? 0 : 1);
  return wrote.toSorted((a, b) => isKnown(a) - isKnown(b)).slice(0, MOST_CALLS);
}

function applyCallFact(calls: Map<string, EarlierCall & { wrote: boolean }>, fact: Fact): void {
  const { run_id = "", tool_call_id, tool_name = "" } = fact;
  if (tool_call_id === undefined) return;
  const key = `${run_id} ${tool_call_id}`;
  if (fact.type === "tool.requested") {
    const targets = describeInput(fact.data);
    calls.set(key, { run_id, tool_call_id, tool_name, status: "unknown", targets, wrote: false });
  }
  const known = calls.get(key);
  if (known === undefined) return;
  if (fact.type === "permission.evaluated") {
    const targets = fact.data.resources.slice(0, 5).map(describeResource);
    if (targets.length > 0) calls.set(key, { ...known, targets });
  } else if (fact.type === "tool.started") {
    const { effects, class: kind } = fact.data;
    const startsAgent = kind !== undefined && readCallClass(kind) === "spawns_agent";
    calls.set(key, { ...known, wrote: effects?.read_only !== true || startsAgent });
  } else if (isTerminalFact(fact)) calls.set(key, { ...known, status: fact.data.result.status });
}

function describeResource(resource: Resource): string {
  if (resource.kind === "path") return oneLine(resource.path, TARGET_CHARS);
  const text = resource.kind === "command" ? resource.argv.join(" ") : resource.host;
  return oneLine(text, TARGET_CHARS);
}

function describeInput({ model_input }: FactData<"tool.requested">): string[] {
  try {
    const input: unknown = typeof model_input === "string" ? JSON.parse(model_input) : model_input;
    const text = primaryArgument(input);
    return text === undefined ? [] : [oneLine(text, TARGET_CHARS)];
  } catch {
    return [];
  }
}
