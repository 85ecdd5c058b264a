// One child from its start to its end: a run of its own on the loop, below the run that called (AGENT-2…5). Its failure is a
// result for its caller. Nothing has happened where a start is refused (SURF-4).

import {
  messageOf,
  ToolFailure,
  type CallIds,
  type ConversationNode,
  type FactData,
  type JsonObject,
  type RunOptions,
  type ToolContext,
  type ToolError,
} from "@soong/core";
import { matchesName } from "@soong/core/internal";
import { nearestName } from "@soong/schema";
import type { ClaimKeeper, TaskCaller, Tasks } from "@soong/tasks";
import {
  openConversation,
  type ActiveRun,
  type InstructionSource,
  type LoopRun,
} from "../loop/index.ts";
import type { Model } from "../model/index.ts";
import type { ActiveRuns, ChildEntry, ChildRegistry } from "./active-runs.ts";
import type { AgentCatalog, AgentDefinition } from "./agent-catalog.ts";
import { ChildProgress, createChildDeadline, createChildWaits } from "./child-progress.ts";
import {
  extractFindings,
  extractSummary,
  getChildStatus,
  type ChildResult,
  type ChildStatus,
  type Stop,
} from "./child-result.ts";
import {
  buildChildPrompt,
  buildChildSystem,
  compileExpectedOutput,
  type ChildRole,
  type ChildTask,
  type ExpectedOutput,
} from "./child-task.ts";
import type { RemoteWorkers } from "./remote-workers.ts";
import type { WorkerPools } from "./worker-pools.ts";

/** What every child is started with. */
export interface AgentParts {
  readonly catalog: AgentCatalog;
  /** `agents.child_timeout_ms` of the kernel's config: no child may take longer. */
  readonly childTimeoutMs: number;
  readonly activeRuns: ActiveRuns;
  readonly children: ChildRegistry;
  readonly workers: WorkerPools;
  /** Without it, no worker can be dispatched. */
  readonly tasks?: TaskParts;
  /** Without it, no step can be given to a pool of other processes. */
  readonly remote?: RemoteWorkers;
  /** Without it, no definition may name a model. */
  readonly models?: ModelsPort;
  /** Instruction files for those who have not read the conversation. */
  readonly instructions?: InstructionSource;
  /** The system text of sub agents and workers begins with it. Default: that of the run that starts them. */
  readonly system?: readonly string[];
  resolveCaller(ids: CallIds): TaskCaller;
}

export interface TaskParts {
  readonly tasks: Tasks;
  readonly keeper: ClaimKeeper;
}

/** The first is used, the rest are its fallbacks. Rejects for an unknown reference. */
export type ModelsPort = (reference: string) => Promise<readonly [Model, ...Model[]]>;

export interface ChildStart extends ChildTask {
  readonly agent_id: string;
  readonly run_id: string;
  /** Default: the tools of the role (SURF-4). */
  readonly allowedTools?: readonly string[];
  /** Tools of `allowedTools` that are not there are no error. */
  readonly skipMissingTools?: boolean;
  readonly model?: string;
  /** The conversation a fork continues, root first. */
  readonly history?: readonly ConversationNode[];
  /** What was asked for; the definition and the config have the last word. */
  readonly timeoutMs?: number;
  /** Further data of its facts, of a worker. */
  readonly about?: Pick<FactData<"agent.child.created">, "pool" | "worker" | "task_id" | "step_id">;
  /** Once its run has begun. */
  begun?(): void;
  /** What ends it beside its caller and its time, from the start on. Returns the way out. */
  watch?(stop: (why: string) => void): () => void;
}

export interface EndedChild {
  readonly result: ChildResult;
  readonly answer: string;
}

const MOST_TASK_CHARS = 1_000;
/** Its own facts have all of them. */
const MOST_TOOLS = 100;

export const END_FACTS = {
  completed: "agent.child.completed",
  failed: "agent.child.failed",
  timed_out: "agent.child.failed",
  cancelled: "agent.child.cancelled",
} as const satisfies Record<ChildStatus, `agent.child.${string}`>;

/**
 * Throws a ToolFailure where it cannot be started. Undefined: the call has ended before its child, and what it would return is
 * not read.
 */
export async function startChild(
  parts: AgentParts,
  active: ActiveRun,
  context: ToolContext,
  start: ChildStart,
): Promise<EndedChild | undefined> {
  const { agent_id, run_id, definition, role, about } = start;
  const { session, run, clock } = active;
  const ids = { agent_id, run_id, role, agent_definition_id: definition.id };
  const child = { child_agent_id: agent_id, child_run_id: run_id, role };
  const identity = { ...child, agent_definition_id: definition.id };
  const call = { tool_call_id: context.toolCallId, tool_name: context.toolName };
  const { timeout_ms: ownMs = parts.childTimeoutMs } = definition;
  const timeoutMs = Math.min(start.timeoutMs ?? ownMs, ownMs, parts.childTimeoutMs);
  const life: { stop?: Stop; run?: LoopRun; entry?: ChildEntry } = {};
  let halt = (_why: ToolFailure): void => {};
  const halted = new Promise<never>((_, reject) => {
    halt = reject;
  });
  halted.catch(() => {});
  const deadline = createChildDeadline(clock, timeoutMs, () => {
    void stop({ status: "timed_out", message: `It did not end within ${timeoutMs} ms.` });
  });
  const waits = createChildWaits(context, deadline);
  const progress = new ChildProgress(context, waits, ids);
  const unwatch = start.watch?.((message) => void stop({ status: "cancelled", message }));
  const ended = live();
  // The call's end waits for the child's, as long as the kernel lets it.
  context.onCancel(async () => {
    const status = deadline.elapsed() >= timeoutMs ? "timed_out" : "cancelled";
    await stop({ status, message: messageOf(context.signal.reason) });
    await ended.catch(() => {});
  });
  try {
    const outcome = await ended;
    return context.signal.aborted ? undefined : outcome;
  } catch (error) {
    if (context.signal.aborted) return undefined;
    throw error;
  } finally {
    deadline.stop();
    unwatch?.();
  }

  async function live(): Promise<EndedChild> {
    // Opening models may take long; the deadline of the child applies to it too.
    const models = await Promise.race([halted, openChildModels(parts, active, start)]);
    const conversation = await openConversation({
      ...buildConversationOptions(parts, active, start),
      models,
      run: { ...buildRunOptions(active, start), onUserAsked: waits.onUserAsked },
      runRegistry: {
        add(own) {
          parts.activeRuns.add(own);
          recordCreated(own, models);
        },
        remove: (own) => parts.activeRuns.remove(own),
      },
    });
    await notify("SubagentStart");
    life.run = conversation.send(buildChildPrompt(start));
    if (life.stop !== undefined) void life.run.abort(life.stop.message);
    const following = progress.follow(life.run);
    const end = await life.run.end;
    await following;
    const { entry } = life;
    if (entry === undefined) {
      const { message = "It could not be started.", problems = [] } = end.error ?? {};
      throw refuseStart(
        message,
        problems.length === 0 ? undefined : "invalid_allowed_tools",
        problems.map(({ code, tool_name, message: why }) => ({ code, tool_name, why })),
      );
    }
    const said =
      end.reason === "completed" || end.answer !== "" ? end.answer : progress.unfinishedText;
    // Before anything of it is cut: half a secret is not recognised (REDACT-1).
    const answer = run.redactor.text(said);
    const result = buildResult(end, answer);
    entry.status = result.status;
    entry.ended_at = new Date(clock.now()).toISOString();
    entry.result = result;
    recordEnded(result);
    await notify("SubagentStop", { status: result.status });
    return { result, answer };
  }

  /** The first reason is the one that counts. */
  async function stop(why: Stop): Promise<void> {
    life.stop ??= why;
    halt(refuseStart(life.stop.message));
    await life.run?.abort(why.message);
  }

  /** A journal that is broken or closed is noticed by the caller itself. */
  async function notify(event: "SubagentStart" | "SubagentStop", more?: JsonObject): Promise<void> {
    await run.notify(event, { ...identity, ...more }).catch(() => {});
  }

  function recordCreated(own: ActiveRun, models: readonly Model[]): void {
    const { surface } = own.run;
    // Redacted as a whole: half a secret is not recognised (REDACT-1).
    const task = run.redactor.text(start.task).slice(0, MOST_TASK_CHARS);
    const data = {
      ...identity,
      mode: surface.mode,
      task,
      tools: surface.loaded.slice(0, MOST_TOOLS).map(({ name }) => name),
      models: models.map(({ id }) => id),
      timeout_ms: timeoutMs,
      inherited_nodes: start.history?.length,
      ...about,
    };
    run.recorder.record("agent.child.created", data, call);
    life.entry = {
      ...ids,
      parent_run_id: run.identity.run_id,
      task,
      started_at: new Date(clock.now()).toISOString(),
      status: "running",
      lines: progress.lines,
      waiting_for: waits.open,
    };
    parts.children.add(session, life.entry);
    start.begun?.();
  }

  function recordEnded(result: ChildResult): void {
    const { agent_id: _agent, run_id: _run, output: _output, ...rest } = result;
    const artifacts = result.artifacts.map(({ artifact_id }) => artifact_id);
    const data = { ...child, ...rest, artifacts, ...about };
    try {
      run.recorder.record(END_FACTS[result.status], data, call);
    } catch {
      // The session's journal is broken or closed, which the caller notices itself.
    }
  }

  function buildResult(end: Awaited<LoopRun["end"]>, answer: string): ChildResult {
    const { reason, turns, usage, error: { code, message = "" } = {} } = end;
    const output = reason === "completed" ? start.expected?.read(answer) : undefined;
    const status = output?.ok === false ? "failed" : getChildStatus(end, life.stop);
    const error =
      output?.ok === false
        ? {
            code: "unexpected_output",
            message: `its answer has not the form asked for: ${output.why}`,
          }
        : {
            code: life.stop?.status ?? code ?? status,
            message: life.stop?.message ?? message,
          };
    return {
      status,
      summary: extractSummary(answer),
      findings: extractFindings(answer),
      artifacts: progress.artifacts,
      usage,
      ...ids,
      reason,
      turns,
      ...(output?.ok === true ? { output: output.output } : {}),
      ...(status === "completed" ? {} : { error }),
    };
  }
}

async function openChildModels(
  { models }: AgentParts,
  active: ActiveRun,
  { model, definition: { id, model: own } }: ChildStart,
): Promise<readonly [Model, ...Model[]]> {
  const reference = model ?? own;
  if (reference === undefined) return active.models;
  if (models === undefined) {
    throw refuseStart(`${id} names the model ${reference}, and models cannot be named here.`);
  }
  return models(reference).catch((error: unknown) => {
    throw refuseStart(`The model ${reference} of ${id} cannot be used: ${messageOf(error)}`);
  });
}

function buildConversationOptions(parts: AgentParts, active: ActiveRun, start: ChildStart) {
  const { role, definition, expected, history } = start;
  const { clock, ids, session, toolProvider, limits, account, lastSeq } = active;
  const isFork = role === "fork";
  const { max_turns = limits.max_turns } = definition;
  return {
    session,
    system: buildChildSystem((isFork ? undefined : parts.system) ?? active.system, start),
    agent_definition_id: definition.id,
    clock,
    ids,
    limits: { ...limits, max_turns: Math.min(max_turns, limits.max_turns) },
    started_by: { account, lastSeq },
    toolProvider,
    history,
    instructions: isFork ? undefined : parts.instructions,
    checkAnswer: expected && ((answer: string) => expected.requestCorrection(answer)),
  };
}

/** Always below the parent's policy (PERM-12), and without the parent's tools (SURF-4). */
function buildRunOptions(active: ActiveRun, start: ChildStart): RunOptions {
  const { definition, role, agent_id, run_id, allowedTools, skipMissingTools } = start;
  const { suggested_tools: suggestedTools, mode, rules } = definition;
  const { identity, policy } = active.run;
  const { roots, inlineLimitBytes, taskDenied } = active.options;
  return {
    agent_id,
    run_id,
    parent: { run_id: identity.run_id, agent_id: identity.agent_id, policy },
    role,
    // Orchestrating is for main. Any other mode holds under the policy of the parent.
    mode: mode === "orchestrator" ? undefined : mode,
    policy: rules === undefined ? undefined : { rules },
    allowedTools,
    skipMissingTools,
    suggestedTools,
    taskDenied,
    roots,
    inlineLimitBytes,
    loadedTools: role === "fork" ? active.loadedTools() : undefined,
  };
}

export function findDefinition(
  catalog: AgentCatalog,
  id: string,
  role: ChildRole,
): AgentDefinition {
  const found = catalog.definitions.get(id);
  if (found?.roles.includes(role) === true) return found;
  const startable = catalog.startableAs(role).map((definition) => definition.id);
  if (found !== undefined) {
    throw startFailure(
      "agent_role_not_allowed",
      `"${id}" cannot be started as ${role}; it is for ${found.roles.join(", ")}. As ${role} there are ${startable.join(", ")}.`,
    );
  }
  const meant = nearestName(id, startable);
  const hint =
    meant === undefined ? `Those that exist: ${startable.join(", ")}.` : `Did you mean "${meant}"?`;
  throw startFailure("unknown_agent_definition", `There is no agent definition "${id}". ${hint}`);
}

/**
 * Within what the definition allows at the most; the role's ceiling is the kernel's to hold. Judged by canonical names:
 * an alias may look like another tool than the one it names.
 */
export function resolveAllowedTools(
  { run }: ActiveRun,
  { id, allowed_tools: most }: Pick<AgentDefinition, "id" | "allowed_tools">,
  asked: readonly string[] | undefined,
): readonly string[] | undefined {
  if (asked === undefined || most === undefined) return asked ?? most;
  const canonical = (name: string): string => run.surface.aliases.get(name) ?? name;
  const beyond = findToolsBeyond(most, asked, canonical);
  if (beyond.length === 0) return asked.map(canonical);
  throw refuseStart(
    `"${id}" may be given ${most.join(", ")} at the most, and allowed_tools names ${beyond.join(", ")}.`,
    "invalid_allowed_tools",
    beyond.map((tool_name) => ({ code: "not_in_definition", tool_name })),
  );
}

/** A tool may be missing only if the definition says so, and the list is its own: one that a caller or a pool names has to be there. */
export function skipsMissingTools(
  { allowed_tools, skip_missing_tools }: AgentDefinition,
  named: readonly string[] | undefined,
): boolean {
  return skip_missing_tools === true && JSON.stringify(named) === JSON.stringify(allowed_tools);
}

/** Which of them `most` does not allow. What a pattern matches, spelled as a pattern, it has all of. */
export function findToolsBeyond(
  most: readonly string[],
  asked: readonly string[],
  canonical: (name: string) => string,
): string[] {
  const isWithin = (allowed: string, name: string): boolean =>
    allowed === name || matchesName(allowed, name);
  return asked.filter(
    (name) => !most.some((allowed) => isWithin(canonical(allowed), canonical(name))),
  );
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

function refuseStart(message: string, code = "child_not_started", problems: JsonObject[] = []) {
  return startFailure(code, `The agent was not started. ${message}`, { details: { problems } });
}

export function startFailure(
  code: string,
  message: string,
  { details, ...about }: Partial<ToolError> = {},
): ToolFailure {
  return new ToolFailure({
    error_class: "invalid_arguments",
    recovery: "change_arguments",
    retryable: true,
    ...about,
    code,
    message,
    details: { started: false, ...details },
  });
}
