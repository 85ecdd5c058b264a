// One child from its start to its end: a run of its own on the loop, below the run that called (AGENT-2…5). Its
// failure is a result for its caller; it never throws.

import { messageOf, type RunOptions, type SurfaceProblem, type ToolContext } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import {
  openConversation,
  type InstructionSource,
  type LoopRun,
  type RunEnd,
  type ActiveRun,
} from "../loop/index.ts";
import type { Model } from "../model/index.ts";
import type { ChildRegistry, ChildEntry } from "./child-registry.ts";
import {
  createChildEntry,
  recordChildCreated,
  recordChildEnded,
  buildChildResult,
  type ChildStart,
  type Stop,
} from "./child-facts.ts";
import { followChild, type ChildProgress } from "./child-progress.ts";
import { buildChildPrompt, buildChildSystem } from "./child-prompt.ts";
import type { ChildResult } from "./child-result.ts";
import { createChildWaits } from "./child-waits.ts";
import { createChildDeadline } from "./child-deadline.ts";
import type { ActiveRuns } from "./active-runs.ts";

/** What every child is started with. */
export interface ChildEnvironment {
  readonly activeRuns: ActiveRuns;
  readonly children: ChildRegistry;
  /** Without it, no definition may name a model. */
  readonly models?: ModelsPort;
  /** Instruction files for those who have not read the conversation. */
  readonly instructions?: InstructionSource;
  /** The system text of sub agents and workers begins with it. Default: that of the run that starts them. */
  readonly system?: readonly string[];
}

/** The first is used, the rest are its fallbacks. Rejects for an unknown reference. */
export type ModelsPort = (reference: string) => Promise<readonly [Model, ...Model[]]>;

export type ChildOutcome =
  /** Nothing has begun. */
  | {
      readonly kind: "refused";
      readonly message: string;
      readonly problems: readonly SurfaceProblem[];
    }
  | { readonly kind: "ended"; readonly result: ChildResult; readonly answer: string }
  /** The call has ended before its child: its result would not be read. */
  | { readonly kind: "cut_short" };

export async function runChild(
  around: ChildEnvironment,
  active: ActiveRun,
  context: ToolContext,
  start: ChildStart,
): Promise<ChildOutcome> {
  const life: { stop?: Stop; child?: LoopRun; entry?: ChildEntry } = {};
  let halt = (_why: Stop): void => {};
  const halted = new Promise<Stop>((resolve) => {
    halt = resolve;
  });
  const deadline = createChildDeadline(active.clock, start.timeoutMs, () => {
    void stop({ status: "timed_out", message: `It did not end within ${start.timeoutMs} ms.` });
  });
  const waits = createChildWaits(context, deadline);
  const unwatch = start.watch?.((message) => void stop({ status: "cancelled", message }));
  const outcome = runConversation();
  // The call's end waits for the child's, as long as the kernel lets it.
  context.onCancel(async () => {
    const isLate = deadline.elapsed() >= deadline.limitMs;
    const message = messageOf(context.signal.reason);
    await stop({ status: isLate ? "timed_out" : "cancelled", message });
    await outcome;
  });
  const ended = await outcome.finally(() => {
    deadline.stop();
    unwatch?.();
  });
  return context.signal.aborted ? { kind: "cut_short" } : ended;

  async function runConversation(): Promise<ChildOutcome> {
    // Opening models may take long; the deadline of the child applies to it too.
    const models = await Promise.race([resolveChildModels(around, active, start), halted]);
    if (typeof models === "string") return { kind: "refused", message: models, problems: [] };
    if ("message" in models) return { kind: "refused", message: models.message, problems: [] };
    const early = getStop();
    if (early !== undefined) return { kind: "refused", message: early.message, problems: [] };
    const conversation = await openConversation({
      ...buildConversationOptions(around, active, start, models),
      run: { ...buildChildRunOptions(active, start), onPersonAsked: waits.onPersonAsked },
      runRegistry: {
        add(own) {
          around.activeRuns.add(own);
          recordChildCreated(active, context, start, own, models);
          life.entry = createChildEntry(active, start, waits.open);
          around.children.add(active.session, life.entry);
          start.begun?.();
        },
        remove: (own) => around.activeRuns.remove(own),
      },
    });
    await notifyHooks("SubagentStart", describeChild(start));
    const child = conversation.send(buildChildPrompt(start));
    life.child = child;
    const since = getStop();
    if (since !== undefined) void child.abort(since.message);
    const story = followChild(child, start, context, waits, () => life.entry);
    const end = await child.end;
    await story.settled;
    if (life.entry === undefined) {
      const { message = "It could not be started.", problems = [] } = end.error ?? {};
      return { kind: "refused", message, problems };
    }
    const concluded = conclude(life.entry, end, story);
    const { status } = life.entry;
    await notifyHooks("SubagentStop", { ...describeChild(start), status });
    return concluded;
  }

  async function notifyHooks(...about: Parameters<ActiveRun["run"]["notify"]>): Promise<void> {
    // The journal is broken or closed, which the caller notices itself.
    await active.run.notify(...about).catch(() => {});
  }

  function getStop(): Stop | undefined {
    return life.stop;
  }

  /** The first reason is the one that counts. */
  async function stop(why: Stop): Promise<void> {
    life.stop ??= why;
    halt(life.stop);
    await life.child?.abort(why.message);
  }

  function conclude(entry: ChildEntry, end: RunEnd, story: ChildProgress): ChildOutcome {
    const said =
      end.reason === "completed" || end.answer !== "" ? end.answer : story.unfinishedText();
    // Before anything of it is cut: half a secret is not recognised (REDACT-1).
    const answer = active.run.redactor.text(said);
    const result = buildChildResult(start, end, answer, life.stop, story);
    entry.status = result.status;
    entry.ended_at = new Date(active.clock.now()).toISOString();
    entry.result = result;
    recordChildEnded(active, context, start, result);
    return { kind: "ended", result, answer };
  }
}

function describeChild({ run_id, agent_id, definition, role }: ChildStart) {
  return {
    child_run_id: run_id,
    child_agent_id: agent_id,
    agent_definition_id: definition.id,
    role,
  };
}

/** A sentence when there is no such model. */
async function resolveChildModels(
  { models }: ChildEnvironment,
  active: ActiveRun,
  { model, definition }: ChildStart,
): Promise<readonly [Model, ...Model[]] | string> {
  const reference = model ?? definition.model;
  if (reference === undefined) return active.models;
  if (models === undefined) {
    return `${definition.id} names the model ${reference}, and models cannot be named here.`;
  }
  try {
    return await models(reference);
  } catch (error) {
    return `The model ${reference} of ${definition.id} cannot be used: ${messageOf(error)}`;
  }
}

function buildConversationOptions(
  around: ChildEnvironment,
  active: ActiveRun,
  start: ChildStart,
  models: readonly [Model, ...Model[]],
) {
  const { role, definition, expected, history } = start;
  const { clock, ids, session, toolProvider, limits } = active;
  const isFork = role === "fork";
  const { max_turns = limits.max_turns } = definition;
  return {
    session,
    models,
    system: buildChildSystem((isFork ? undefined : around.system) ?? active.system, start),
    agent_definition_id: definition.id,
    clock,
    ids,
    limits: { ...limits, max_turns: Math.min(max_turns, limits.max_turns) },
    started_by: { account: active.account, lastSeq: active.lastSeq },
    ...omitUndefined({ toolProvider, history }),
    ...(isFork || around.instructions === undefined ? {} : { instructions: around.instructions }),
    ...(expected === undefined
      ? {}
      : { checkAnswer: (answer: string) => expected.requestCorrection(answer) }),
  };
}

/** Always below the parent's policy (PERM-12), and without the parent's tools (SURF-4). */
function buildChildRunOptions(active: ActiveRun, start: ChildStart): RunOptions {
  const { definition, role, agent_id, run_id, allowedTools } = start;
  const { suggested_tools, mode, rules } = definition;
  const { identity, policy } = active.run;
  const { roots, inlineLimitBytes, taskDenied } = active.options;
  return {
    agent_id,
    run_id,
    parent: { run_id: identity.run_id, agent_id: identity.agent_id, policy },
    role,
    // Orchestrating is for main; a child in plan mode only reads.
    ...(mode === "plan" ? { mode } : {}),
    ...(rules === undefined ? {} : { policy: { rules } }),
    ...omitUndefined({
      allowedTools,
      suggestedTools: suggested_tools,
      taskDenied,
      roots,
      inlineLimitBytes,
    }),
    ...(role === "fork" ? { loadedTools: active.loadedTools() } : {}),
  };
}
