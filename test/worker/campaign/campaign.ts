// A campaign against workers: tasks of forty steps on four machines, while machines are killed, cut off, suspended and given wrong
// clocks, and the server crashes. Before it, on a cluster where nothing fails: how fast a step is dispatched, and a run stopped.

import { once } from "node:events";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openStore, type Store } from "../../../packages/store/src/index.ts";
import { createTasks, type StepRecord, type Tasks } from "../../../packages/tasks/src/index.ts";
import { bundleCli } from "../../cli/cli-bundle.ts";
import { startPostgres } from "../../postgres/server.ts";
import { checkCampaign, quantile } from "./check.ts";
import { applyFaults, type FaultCounts } from "./faults.ts";
import { createDesk, LEASE_MS, startMachine, type Desk, type Machine } from "./machines.ts";

export interface CampaignPlan {
  readonly faults: FaultCounts;
  readonly cancels: number;
  readonly stepsOfTask: number;
  readonly say: (line: string) => void;
}

export interface Figure {
  readonly name: string;
  readonly value: string;
  readonly aim: string;
  readonly isMet: boolean;
}

const MACHINES = ["ash", "birch", "cedar", "elm"];

export async function runCampaign(plan: CampaignPlan): Promise<Figure[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "soong-campaign-")));
  const server = await startPostgres({ fsync: false });
  const url = await server.createDatabase();
  const bundle = await bundleCli();
  const { program } = bundle;
  const store = await openStore({ directory: join(folder, "desk"), url });
  const machines: Machine[] = [];
  try {
    for (const name of MACHINES) machines.push(await startMachine({ folder, name, program, url }));
    // Never cut off from the database: what it waits for is the workers.
    const desk = await createDesk({ folder, name: "desk", program, url });
    const stage = { plan, store, machines, server, desk };
    while (machines.some(({ worker_id }) => worker_id === undefined)) await delay(50);
    return [...(await measureCalm(stage)), ...(await measureFaults(stage))];
  } finally {
    await Promise.all(machines.map((one) => one.close()));
    await store.close();
    await bundle.remove();
    await server.stop();
    if (process.env["SOONG_KEEP_CAMPAIGN"] === undefined)
      await rm(folder, { recursive: true, force: true });
    else plan.say(folder);
  }
}

interface Stage {
  readonly plan: CampaignPlan;
  readonly store: Store;
  readonly machines: readonly Machine[];
  readonly desk: Desk;
  readonly server: Awaited<ReturnType<typeof startPostgres>>;
}

interface Planned {
  readonly task_id: string;
  readonly session_id: string;
}

async function measureCalm(stage: Stage): Promise<Figure[]> {
  const { plan, store } = stage;
  const tasks = openTasks(store);
  // One after the other, so that a worker is idle when a step becomes ready.
  const chain = await planTask(stage, Math.min(plan.stepsOfTask, 20), true);
  await driveTask(stage, chain);
  const facts = await (await store.readSession(chain.session_id)).facts({ limit: 10_000 });
  const sent = new Map(
    facts.flatMap((fact) =>
      fact.type === "tool.started" ? [[fact.run_id, Date.parse(fact.time)]] : [],
    ),
  );
  const waits: number[] = [];
  for (const fact of facts) {
    if (fact.type !== "worker.dispatched") continue;
    const run = await store.findRun(fact.data.run_id);
    const [claimed] = run ? await store.factsOfTypes([run.session_id], ["task.step.claimed"]) : [];
    const at = sent.get(fact.run_id);
    if (claimed?.type === "task.step.claimed" && at !== undefined)
      waits.push(Date.parse(claimed.data.claim.claimed_at) - at);
  }
  const cancels: number[] = [];
  for (let count = 0; count < plan.cancels; count += 1) {
    const task = await planTask(stage, 1, false);
    const driving = stage.desk.run(driveArgs(task));
    await until(async () => (await tasks.reader.step(task.task_id, "s0"))?.status === "running");
    const at = performance.now();
    driving.kill("SIGINT");
    await until(async () => (await tasks.reader.step(task.task_id, "s0"))?.claim === undefined, 5);
    const { status } = (await tasks.reader.step(task.task_id, "s0")) as StepRecord;
    if (status === "ready") cancels.push(performance.now() - at);
    if (driving.exitCode === null) await once(driving, "close");
  }
  return [
    atMost("dispatch to claim, p50", quantile(waits, 0.5), 50, waits.length),
    atMost("cancel to released, p95", quantile(cancels, 0.95), 500, cancels.length),
  ];
}

async function measureFaults(stage: Stage): Promise<Figure[]> {
  const { plan, store, machines, server } = stage;
  const tasks = openTasks(store);
  const planned: Planned[] = [];
  const over = new AbortController();
  let drives = 0;
  const working = (async () => {
    while (!over.signal.aborted || planned.length === 0) {
      const task = await planTask(stage, plan.stepsOfTask, false);
      planned.push(task);
      drives += await driveTask(stage, task);
      plan.say(`${planned.length} × ${plan.stepsOfTask} steps, ${drives} drives`);
    }
  })();
  const claimed = async (): Promise<readonly StepRecord[]> => {
    const task = planned.at(-1);
    if (task === undefined) return [];
    const steps = await readSteps(tasks, task);
    return steps.filter(({ claim }) => claim !== undefined);
  };
  let done = 0;
  const total = Object.values(plan.faults).reduce((sum, count) => sum + count, 0);
  const taken = await applyFaults({ server, machines, claimed }, plan.faults, (fault) => {
    done += 1;
    if (done % 10 === 0) plan.say(`fault ${done} of ${total}: ${fault}`);
  });
  over.abort();
  await working;
  const steps = (await Promise.all(planned.map((task) => readSteps(tasks, task)))).flat();
  const end = await checkCampaign(store, machines, steps, taken);
  for (const sentence of [...end.lost, ...end.double].slice(0, 40)) plan.say(`! ${sentence}`);
  const takeovers = end.takeovers.map(({ ms }) => ms);
  const slow = end.takeovers.filter(({ ms }) => ms > LEASE_MS + 2_000);
  for (const { ms, lostMs, fault, step } of slow)
    plan.say(`taken over after ${ms} ms, ready after ${lostMs} ms (${fault}): ${step}`);
  plan.say(
    `${planned.length} tasks, ${end.steps} steps, ${end.attempts} claims, ${end.effects} effects, ${end.sessions} sessions, ${drives} drives`,
  );
  return [
    atMost("lost steps, facts, effects", end.lost.length, 0, end.steps),
    atMost("double steps, effects, overlaps", end.double.length, 0, end.effects),
    atMost("takeover, p95", quantile(takeovers, 0.95), LEASE_MS + 2_000, takeovers.length),
  ];
}

function atMost(name: string, value: number, aim: number, count: number): Figure {
  const unit = aim === 0 ? "" : " ms";
  return {
    name,
    value: `${Math.round(value)}${unit} (of ${count})`,
    aim: aim === 0 ? "0" : `≤ ${aim}${unit}`,
    isMet: value <= aim,
  };
}

function openTasks(store: Store): Tasks {
  return createTasks({ storage: store.tasks(), leaseMs: LEASE_MS, maxAttempts: 100 });
}

async function planTask({ store }: Stage, count: number, isChain: boolean): Promise<Planned> {
  const held = await store.createSession({ title: "The plan" });
  const { session_id } = held;
  const actor = { kind: "orchestrator", session_id, run_id: "r", agent_id: "a" } as const;
  const steps = Array.from({ length: count }, (_, at) => ({
    step_id: `s${at}`,
    title: `Do ${at}`,
    instructions: "Do it.",
    ...(isChain && at > 0 && { depends_on: [`s${at - 1}`] }),
  }));
  const { task } = await openTasks(store).create(
    { actor },
    { title: "Campaign", goal: "All is done.", steps },
  );
  await held.close();
  return { task_id: task.task_id, session_id };
}

function driveArgs({ task_id }: Planned): string[] {
  const model = ["--model", "script:none.json", "--allow", "user.effect"];
  return ["tasks", "drive", task_id, ...model];
}

/** To its end, however often that takes; returns how often. */
async function driveTask({ desk, store, plan }: Stage, task: Planned): Promise<number> {
  for (let count = 1; ; count += 1) {
    const driving = desk.run(driveArgs(task));
    let said = "";
    driving.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
    driving.stdout?.resume();
    const [code] = (await once(driving, "close")) as [number | null];
    if (code === 0) return count;
    plan.say(`drive ended with ${code}: ${said.trim().slice(-300)}`);
    const { task: now } = (await openTasks(store).reader.get(task.task_id)) ?? {};
    if (now?.status === "failed" || now?.status === "cancelled" || count > 50) return count;
    await delay(500);
  }
}

async function readSteps(tasks: Tasks, { task_id, session_id }: Planned): Promise<StepRecord[]> {
  const actor = { kind: "orchestrator", session_id, run_id: "r", agent_id: "a" } as const;
  return [...(await tasks.querySteps({ actor }, { task_id, limit: 1000 }))];
}

async function until(check: () => Promise<boolean>, everyMs = 20): Promise<void> {
  while (!(await check())) await delay(everyMs);
}
