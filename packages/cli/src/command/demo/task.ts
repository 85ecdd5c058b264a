// The second act of the demo: an orchestrator makes a task of twelve steps, and four workers do them as they become ready.
// Two steps fail once. All of them are played by scripted models; claims, retries, runs and facts are the real ones.

import {
  driveTask,
  scriptedModel,
  type Model,
  type ModelRequest,
  type ScriptTurn,
} from "@soong/agent";
import type { Fact } from "@soong/core";
import type { LoadedConfig } from "../../config/index.ts";
import { openLoop } from "../../conversation/open-loop.ts";
import { CommandError, fit, visibleLine, wrap, type Output } from "../../output/index.ts";
import { renderSystemText } from "../../runtime/user-tools.ts";
import type { Runtime } from "../../runtime/open-runtime.ts";
import { listAttempts, renderTimeline } from "./timeline.ts";
import type { DemoPoint } from "./outcome.ts";

const PROMPT = "Prepare the market: all stalls checked, and one list of what they need.";
const STALLS = "bread cheese fish flowers fruit honey nuts olives spice tea".split(" ");
const UNLUCKY = ["fish", "honey"];
const WORK_MS = 120;

export interface PlayedTask {
  readonly task_id: string;
  readonly session_id: string;
}

/** Undefined when it was interrupted. */
export async function playDemoTask(
  output: Output,
  runtime: Runtime,
  config: LoadedConfig,
  signal: AbortSignal,
): Promise<PlayedTask | undefined> {
  const { agents } = runtime;
  if (agents === undefined) throw new CommandError("The demo has no agents.");
  const { bold, cyan, dim } = output.colours;
  const held = await runtime.openSession({ title: "soong demo: a task" });
  const orchestrator = scriptedModel({ turns: [PLAN, DONE] }, { id: "script:demo-orchestrator" });
  const { conversation } = await openLoop({
    held,
    runtime,
    config,
    models: [orchestrator],
    mode: "orchestrator",
  });
  printSpeech(bold("You"), PROMPT);
  const run = conversation.send(PROMPT);
  signal.addEventListener("abort", () => void run.abort("interrupted by the user"), { once: true });
  printSpeech(cyan("Orchestrator"), (await run.end).answer);
  const { session_id } = held.session;
  const [task] = await agents.tasks.reader.list({ session_id });
  if (signal.aborted) return undefined;
  if (task === undefined) throw new CommandError("The orchestrator of the demo made no task.");
  output.line();
  const { kind, reason } = await driveTask({
    session: held.session,
    task_id: task.task_id,
    agents: agents.agents,
    tasks: agents.tasks,
    models: [workerModel()],
    system: renderSystemText(runtime.roots.project),
    signal,
    onEvent(event) {
      if (event.kind !== "step_ended") return;
      const { step_id, status, worker, summary } = event;
      const word = status === "ready" ? "given back" : status;
      const line = `  ${worker} ${step_id} ${word}: ${visibleLine(summary)}`;
      output.line(dim(fit(line, output.width)));
    },
  });
  if (kind !== "completed") output.note(`${kind}: ${visibleLine(reason)}`, "red");
  await held.close();
  return signal.aborted ? undefined : { task_id: task.task_id, session_id };

  function printSpeech(who: string, what: string): void {
    for (const line of ["", who, ...wrap(what, output.width, "  ")]) output.line(line);
  }
}

/** A diamond: one step, ten that wait for it, and one that waits for them. */
const PLAN: ScriptTurn = {
  calls: [
    {
      tool: "agent.task_create",
      input: {
        title: "Prepare the market",
        goal: "Every stall is checked, and one list says what they need.",
        steps: [
          { step_id: "plan", title: "Draw the plan", instructions: "Where each stall is." },
          ...STALLS.map((stall) => ({
            step_id: stall,
            title: `Check the ${stall} stall`,
            instructions: "Look at it, and say what it needs.",
            depends_on: ["plan"],
          })),
          { step_id: "list", title: "Make the list", instructions: "Of all.", depends_on: STALLS },
        ],
      },
    },
  ],
};
const DONE: ScriptTurn = {
  text: "Twelve steps: a plan, ten stalls that can be checked side by side, and the list of them all. Workers can begin.",
};

/** What a worker says depends on its step, and for two of them on whether it is the first attempt. */
function workerModel(): Model {
  const attempts = new Map<string, number>();
  const byRun = new Map<string, Model>();
  const plain = scriptedModel({ turns: [] }, { id: "script:demo-worker" });
  return {
    ...plain,
    stream(request, signal) {
      const { run_id = "" } = request;
      const playing = byRun.get(run_id) ?? playerFor(findStep(request));
      byRun.set(run_id, playing);
      return playing.stream(request, signal);
    },
  };

  function playerFor(step: string): Model {
    const attempt = (attempts.get(step) ?? 0) + 1;
    attempts.set(step, attempt);
    const isUnlucky = UNLUCKY.includes(step) && attempt === 1;
    const end: Readonly<Record<string, string>> = isUnlucky
      ? { status: "failed", reason: "no one was at the stall" }
      : { status: "completed", summary: `${step}: done` };
    // Whose turn it is does not matter: one model is one run's.
    const turns: ScriptTurn[] = [
      { calls: [update({ status: "running" })] },
      { parts: [{ call: update(end), after_ms: WORK_MS }] },
      { text: isUnlucky ? "No one was there." : "Done." },
    ];
    return scriptedModel({ turns }, { id: plain.id });
  }
}

function update(input: Readonly<Record<string, string>>) {
  return { tool: "agent.task_update_step", input };
}

function findStep({ messages }: ModelRequest): string {
  const [first] = messages;
  const text = first?.role === "user" ? JSON.stringify(first.content) : "";
  return /The step (\S+) is claimed for you/.exec(text)?.[1] ?? "";
}

/** How it went, from the facts of its session. */
export function checkDemoTask(facts: readonly Fact[]): DemoPoint[] {
  const done = facts.filter(({ type }) => type === "task.step.completed").map(readStepId);
  const failed = facts.filter(({ type }) => type === "task.step.failed").map(readStepId);
  const attempts = listAttempts(facts);
  const startOf = (step: string): number =>
    Math.min(...attempts.filter(({ step_id }) => step_id === step).map(({ from }) => from));
  const ends = new Map(attempts.map(({ step_id, to }) => [step_id, to]));
  const atOnce = Math.max(
    ...attempts.map(
      ({ from }) => attempts.filter((one) => one.from <= from && one.to > from).length,
    ),
  );
  const workers = new Set(attempts.map(({ worker }) => worker));
  return [
    {
      says: "each of the twelve steps was done once, and the task is completed",
      holds:
        done.length === 12 &&
        new Set(done).size === 12 &&
        facts.some(({ type }) => type === "task.completed"),
    },
    {
      says: "two steps failed once, and were done at the second attempt",
      holds: failed.toSorted().join() === UNLUCKY.join() && attempts.length === 14,
    },
    {
      says: "no stall was checked before the plan was made, and the list came last",
      holds: STALLS.every(
        (stall) =>
          startOf(stall) >= (ends.get("plan") ?? Number.POSITIVE_INFINITY) &&
          (ends.get(stall) ?? Number.POSITIVE_INFINITY) <= startOf("list"),
      ),
    },
    {
      says: `${workers.size} workers shared the work, ${atOnce} of them at the same time`,
      holds: workers.size === 4 && atOnce > 1,
    },
  ];
}

export function showDemoTimeline(output: Output, facts: readonly Fact[]): void {
  output.line();
  output.line(output.colours.bold("Who did what, and when"));
  for (const line of renderTimeline(listAttempts(facts), Math.min(output.width, 100) - 2)) {
    output.line(`  ${line}`);
  }
}

function readStepId({ data }: Fact): string {
  return "step_id" in data ? (data.step_id ?? "") : "";
}
