// From the arguments of a call to a child at work, or to everything that keeps it from being started (SURF-4). Nothing has
// happened when a start is refused.

import {
  type ToolContext,
  ToolFailure,
  type JsonObject,
  type ToolError,
  type CallIds,
} from "@soong/core";
import { matchesName } from "@soong/core/internal";
import { nearestName } from "@soong/schema";
import type { ActiveRun } from "../loop/index.ts";
import type { AgentCatalog } from "./agent-catalog.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import type { ChildRole } from "./child-prompt.ts";
import type { ChildStart } from "./child-facts.ts";
import { runChild, type ChildOutcome, type ChildEnvironment } from "./run-child.ts";
import { compileExpectedOutput, type ExpectedOutput } from "./expected-output.ts";
import type { ClaimKeeper, TaskCaller, Tasks } from "@soong/tasks";
import type { WorkerPools } from "./worker-pools.ts";

export type EndedChild = Extract<ChildOutcome, { kind: "ended" }>;

/** Undefined: the call has ended before its child, and what it would return is not read. */
export async function startChild(
  around: ChildEnvironment,
  active: ActiveRun,
  context: ToolContext,
  start: ChildStart,
): Promise<EndedChild | undefined> {
  const outcome = await runChild(around, active, context, start);
  if (outcome.kind === "cut_short") return undefined;
  if (outcome.kind === "ended") return outcome;
  const { problems, message } = outcome;
  const details = {
    problems: problems.map(({ code, tool_name, message: why }) => ({ code, tool_name, why })),
  };
  throw startFailure(
    problems.length === 0 ? "child_not_started" : "invalid_allowed_tools",
    `The agent was not started. ${message}`,
    { details },
  );
}

export function findDefinition(
  catalog: AgentCatalog,
  id: string,
  role: ChildRole,
): AgentDefinition {
  const found = catalog.definitions.get(id);
  const startable = catalog.startableAs(role).map((definition) => definition.id);
  if (found === undefined) {
    const meant = nearestName(id, startable);
    const hint =
      meant === undefined ? `There are ${startable.join(", ")}.` : `Did you mean "${meant}"?`;
    throw startFailure("unknown_agent_definition", `There is no agent definition "${id}". ${hint}`);
  }
  if (found.roles.includes(role)) return found;
  throw startFailure(
    "agent_role_not_allowed",
    `"${id}" cannot be started as ${role}; it is for ${found.roles.join(", ")}. As ${role} there are ${startable.join(", ")}.`,
  );
}

/**
 * Within what the definition allows at the most; the role's ceiling is the kernel's to hold. Judged by canonical names:
 * an alias may look like another tool than the one it names.
 */
export function resolveAllowedTools(
  { run }: Pick<ActiveRun, "run">,
  { id, allowed_tools: most }: AgentDefinition,
  asked: readonly string[] | undefined,
): readonly string[] | undefined {
  if (asked === undefined || most === undefined) return asked ?? most;
  const { aliases } = run.surface;
  const nameOf = (name: string): string => aliases.get(name) ?? name;
  const beyond = asked.filter((name) => !most.some((one) => isWithin(nameOf(one), nameOf(name))));
  if (beyond.length === 0) return asked.map(nameOf);
  const details = {
    problems: beyond.map((tool_name) => ({ code: "not_in_definition", tool_name })),
  };
  throw startFailure(
    "invalid_allowed_tools",
    `The agent was not started. "${id}" may be given ${most.join(", ")} at the most, and allowed_tools names ${beyond.join(", ")}.`,
    { details },
  );
}

/** What a pattern matches, spelled as a pattern, it has all of. */
function isWithin(most: string, asked: string): boolean {
  return most === asked || matchesName(most, asked);
}

/** The caller's own form, or the definition's. */
export function resolveExpectedOutput(
  definition: AgentDefinition,
  asked: unknown,
): ExpectedOutput | undefined {
  const given = asked ?? definition.expected_output_schema;
  if (given === undefined) return undefined;
  const expected = compileExpectedOutput(given);
  if (!("problem" in expected)) return expected;
  throw startFailure(
    "invalid_expected_output_schema",
    `The agent was not started. expected_output_schema cannot be used: ${expected.problem}`,
  );
}

export function resolveTimeout(
  definition: AgentDefinition,
  asked: number | undefined,
  limitMs: number,
): number {
  const own = definition.timeout_ms ?? limitMs;
  return Math.min(asked ?? own, own, limitMs);
}

export function startFailure(
  code: string,
  message: string,
  more: Partial<Pick<ToolError, "error_class" | "recovery" | "retryable">> & {
    readonly details?: JsonObject;
  } = {},
): ToolFailure {
  const { details, ...about } = more;
  return new ToolFailure({
    code,
    message,
    error_class: "invalid_arguments",
    recovery: "change_arguments",
    retryable: true,
    ...about,
    details: { started: false, ...details },
  });
}

export interface AgentParts extends ChildEnvironment {
  readonly catalog: AgentCatalog;
  readonly childTimeoutMs: number;
  readonly workers: WorkerPools;
  readonly tasks: TaskParts | undefined;
  resolveCaller(ids: CallIds): TaskCaller;
}

export interface TaskParts {
  readonly tasks: Tasks;
  readonly keeper: ClaimKeeper;
}
