// What the dispatching process does for workers on other machines while they work: it answers from the grants of its own session,
// it is charged with what they use, and what its task denies holds for them.

import { existsSync, readdirSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  loopLimits,
  scriptedModel,
  sumUsage,
  type ActiveRun,
} from "../../packages/agent/src/index.ts";
import {
  randomIds,
  systemClock,
  type Fact,
  type RunOptions,
} from "../../packages/core/src/index.ts";
import { bundleCli, environment, type CliBundle } from "../cli/cli-bundle.ts";
import {
  ONE,
  openCluster,
  readFacts,
  script,
  WAIT,
  work,
  type Cluster,
  type Machine,
} from "./cluster-stage.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

/** A dispatch needs none. */
const NO_MODEL = scriptedModel({ turns: [] });

function write(path: string): string {
  return `{ tool: code.write_file, input: { path: ${path}, content: x } }`;
}

function dispatch(task_id: string, step_id: string): string {
  const input = `{ pool: builders, task_id: ${task_id}, step_id: ${step_id} }`;
  return `{ tool: agent.dispatch_worker, input: ${input} }`;
}

async function startLead(lead: Machine, session_id: string, turns: readonly string[]) {
  const list = turns.map((calls) => `  - calls: [ ${calls} ]\n`).join("");
  await lead.write("lead.yaml", `turns:\n${list}  - text: All done.\n`);
  const model = ["--mode", "orchestrator", "--model", "script:lead.yaml"];
  const allowed = ["--allow", "code.run_command"];
  return lead.start(["resume", session_id, "Do it", ...model, ...allowed]);
}

/** A program at the socket of the machine's one live session. */
async function attach(lead: Machine) {
  const sockets = join(lead.home, "control");
  await vi.waitFor(
    () => expect(existsSync(sockets) && readdirSync(sockets)[0]).toMatch(/\.sock$/),
    WAIT,
  );
  const child = spawn(process.execPath, [bundle.program, "attach", "--json"], {
    cwd: lead.project,
    env: environment(lead.home, lead.env),
    stdio: ["pipe", "pipe", "inherit"],
  });
  // It may have ended when it is written to.
  child.stdin.on("error", () => {});
  onTestFinished(() => void child.kill("SIGKILL"));
  const records: Record<string, unknown>[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    records.push(JSON.parse(line) as Record<string, unknown>);
  });
  return {
    say: (answer: object) => void child.stdin.write(`${JSON.stringify(answer)}\n`),
    async next(event: string): Promise<Record<string, unknown>> {
      await vi.waitFor(() => expect(records.map((one) => one["event"])).toContain(event), WAIT);
      return records.find((one) => one["event"] === event) ?? {};
    },
  };
}

/** The facts of the session that worked on a step. */
async function factsOfWorker({ store }: Cluster, step_id: string): Promise<readonly Fact[]> {
  const sessions = await store.sessions({ limit: 100 });
  const ids = sessions.map(({ session_id }) => session_id);
  const created = await store.factsOfTypes(ids, ["session.created"]);
  const own = created.find(({ data }) => JSON.stringify(data).includes(`"step_id":"${step_id}"`));
  return own === undefined ? [] : readFacts(store, own.session_id);
}

describe("a grant of the dispatching session", () => {
  it("answers the questions of workers until it is revoked; then users are asked again", async () => {
    verifies("DIST-1", "PERM-5", "PERM-12", "PERM-20");
    const cluster = await openCluster(bundle);
    const { plan, machine } = cluster;
    const { id, session_id } = await plan([{ step_id: "plan" }, { step_id: "second" }]);
    const [there, lead] = await Promise.all([machine(), machine()]);
    await there.worker({ plays: script(work(write("w1.txt")), work(write("w2.txt"))) });
    await once(spawn("mkfifo", [join(lead.project, "gate")]), "close");
    const gate = "{ tool: code.run_command, input: { argv: [cat, gate] } }";
    const run = await startLead(lead, session_id, [
      gate,
      write("a.txt"),
      dispatch(id, "plan"),
      gate,
      dispatch(id, "second"),
    ]);
    const attached = await attach(lead);
    await attached.next("attached");
    await lead.write("gate", "open");
    const { question_id } = await attached.next("question");
    attached.say({ question_id, decision: "allow_for_session" });
    await there.has("w1.txt");

    const [grant] = await lead.records("grants");
    const facts = await factsOfWorker(cluster, "plan");
    expect(facts.find(({ type }) => type === "permission.resolved")?.data).toMatchObject({
      decision: "allow_once",
      answered_by: `grant:${String(grant?.["grant_id"])}`,
    });
    expect(facts.filter(({ type }) => type === "grant.created")).toEqual([]);

    expect(await lead.run(["grants", "revoke", String(grant?.["grant_id"])])).toMatchObject({
      code: 0,
    });
    await lead.write("gate", "open");
    const asked = await vi.waitFor(async () => {
      const [question] = await lead.records("questions");
      expect(question).toMatchObject({ tool_name: "code.write_file", state: "open" });
      return question;
    }, WAIT);
    expect(
      await lead.run(["questions", "answer", String(asked?.["question_id"]), "deny"]),
    ).toMatchObject({ code: 0 });
    expect(await run.ended).toMatchObject({ code: 0, stdout: "All done.\n" });
    expect(existsSync(join(there.project, "w2.txt"))).toBe(false);
  });
});

describe("a worker's question that no grant covers", () => {
  it("is shown to who drives the task, with how to answer it", async () => {
    verifies("DIST-1", "PERM-20");
    const { plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const asks = '[[permissions.rules]]\ntool = "code.write_file"\ndecision = "ask"\n';
    const [there, lead] = await Promise.all([machine(asks), machine()]);
    await there.worker({ plays: script(work(write("w1.txt"))) });
    const driving = lead.drive(task.id);
    await driving.printed(
      /· plan waits for approval: (?:Write|Create) \S+.* \(`soong questions answer ask_/,
    );
    const [question] = await lead.records("questions");
    const listed = (await lead.run(["questions"])).stdout;
    expect(listed).toContain(`${there.project}, worker of plan in ${task.id}`);
    expect((await lead.run(["tasks", task.id])).stdout).toMatch(
      /running, by builders@[^]*waits for approval: Write .*w1\.txt.*`soong questions answer ask_/,
    );
    await lead.run(["questions", "answer", String(question?.["question_id"]), "deny"]);
    expect(await driving.ended).toMatchObject({ code: 0 });
    expect(existsSync(join(there.project, "w1.txt"))).toBe(false);
  });
});

describe("the session of a worker", () => {
  it("says in its first fact which session, run, call and step it is for", async () => {
    verifies("DIST-1", "CLI-5");
    const cluster = await openCluster(bundle);
    const { plan, machine, store } = cluster;
    const task = await plan(ONE);
    const [there, lead] = await Promise.all([machine(), machine()]);
    await there.worker();
    expect(await lead.drive(task.id).ended).toMatchObject({ code: 0 });
    const dispatched = (await readFacts(store, task.session_id)).find(
      ({ type }) => type === "worker.dispatched",
    );
    const [created] = await factsOfWorker(cluster, "plan");
    expect(created).toMatchObject({
      type: "session.created",
      seq: 1,
      data: {
        dispatched_by: {
          session_id: task.session_id,
          run_id: dispatched?.run_id,
          agent_id: dispatched?.agent_id,
          tool_call_id: dispatched?.tool_call_id,
          task_id: task.id,
          step_id: "plan",
        },
      },
    });
    const own = created?.session_id ?? "";
    const print = async (...args: string[]): Promise<string> =>
      (await lead.run(args)).stdout.replaceAll(/\s+/g, " ");
    const sentence = `dispatched by ${dispatched?.run_id} of ${task.session_id}`;
    expect(await print("events", own)).toContain(sentence);
    expect(await print("show", own)).toContain(
      `dispatched by \`${dispatched?.run_id}\` of \`${task.session_id}\``,
    );
    const exported = await print("events", own, "--format", "agent-runtime");
    expect(exported).toContain(`"parentSessionId":"${task.session_id}"`);
    const sessions = await lead.records("sessions", "--all");
    expect(sessions.find((one) => one["session_id"] === own)).toMatchObject({
      worker_of: { session_id: task.session_id, run_id: dispatched?.run_id, step_id: "plan" },
    });
  });
});

describe("what workers use", () => {
  it("is charged to the run that dispatched them, and shown with its session", async () => {
    verifies("EVENT-7", "MODEL-4");
    const { plan, machine } = await openCluster(bundle);
    const { id, session_id } = await plan(ONE);
    const [there, lead] = await Promise.all([machine(), machine()]);
    await there.worker();
    const run = await startLead(lead, session_id, [dispatch(id, "plan")]);
    expect(await run.ended).toMatchObject({ code: 0 });
    const sessions = await lead.records("sessions", "--all");
    const usageOf = (isWanted: (one: Record<string, unknown>) => boolean) =>
      (sessions.find(isWanted)?.["usage"] as { requests: number } | undefined)?.requests ?? 0;
    const used = usageOf((one) => one["worker_of"] !== undefined);
    expect(used).toBe(3);
    // Two requests of its own.
    expect(usageOf((one) => one["session_id"] === session_id)).toBe(2 + used);
  });

  it("counts against the budget of that run: a worker that goes over it is stopped, and no other is begun", async () => {
    verifies("MODEL-4", "EVENT-7");
    const cluster = await openCluster(bundle);
    const { id, session_id } = await cluster.plan(ONE);
    const there = await cluster.machine();
    const lead = await cluster.machine("[model.budget]\nmax_tokens = 12000\n");
    const hold =
      "{ tool: code.run_command, input: { argv: [sh, -c, 'until [ -e gate ]; do sleep 0.05; done'] } }";
    const long = `{ tool: code.write_file, input: { path: a.txt, content: "${"word ".repeat(8000)}" } }`;
    const worker = await there.worker({ plays: script(work(long, hold)) });
    const run = await startLead(lead, session_id, [dispatch(id, "plan")]);
    const ended = await run.ended;
    expect(ended.code).not.toBe(0);
    expect(ended.stdout + ended.stderr).toContain("The run's budget is used up");
    await worker.printed(/← plan of \S+: not finished: The run was aborted: The run's budget/);
    const facts = await readFacts(cluster.store, session_id);
    expect(facts.find(({ type }) => type === "agent.child.failed")?.data).toMatchObject({
      error: { code: "budget" },
      step_id: "plan",
    });
  });
});

describe("what the task of the dispatching run denies", () => {
  it("is denied to its workers on other machines", async () => {
    verifies("SURF-4", "DIST-1");
    const { plan, machine, runtime, store } = await openCluster(bundle, (usual) =>
      usual.replace(/allowed_tools = .*/, 'allowed_tools = ["code.*"]'),
    );
    const { id, session_id } = await plan(ONE);
    const there = await machine();
    await there.worker({ plays: script(work(write("w.txt"))) });
    const agents = runtime.agents?.agents;
    const held = await runtime.openSession({ resume: session_id });
    const options = {
      role: "main",
      mode: "orchestrator",
      taskDenied: ["code.write_*"],
    } as const satisfies RunOptions;
    const run = await held.session.startRun(options);
    const active: ActiveRun = {
      session: held.session,
      run,
      options,
      models: [NO_MODEL],
      system: [],
      limits: loopLimits({}),
      clock: systemClock(),
      ids: randomIds(),
      account: sumUsage([]),
      usage: sumUsage([]),
      lastSeq: 0,
      path: () => [],
      loadedTools: () => [],
    };
    agents?.activeRuns.add(active);
    const input = { pool: "builders", task_id: id, step_id: "plan" };
    const named = await run.call("agent.dispatch_worker", {
      ...input,
      allowed_tools: ["code.write_file"],
    });
    expect(named.error).toMatchObject({
      code: "invalid_allowed_tools",
      message: expect.stringContaining("code.write_file") as string,
    });
    const called = await run.call("agent.dispatch_worker", input);
    expect(called, JSON.stringify(called)).toMatchObject({ is_error: false });
    run.end("completed");
    agents?.activeRuns.remove(active);
    await held.close();
    expect(active.account.requests).toBe(4);
    expect(existsSync(join(there.project, "w.txt"))).toBe(false);
    const [started] = await store.factsOfTypes(
      (await store.sessions()).flatMap((one) =>
        one.session_id === session_id ? [] : [one.session_id],
      ),
      ["run.started"],
    );
    expect(started?.data).toMatchObject({ request: { task_denied: ["code.write_*"] } });
  });
});
