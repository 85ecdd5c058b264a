// Steps of a task on workers that are processes of their own, each with a home and a project of its own: what the dispatching
// session and theirs have on record, and how any machine shows it.

import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import { FILESYSTEM, node } from "../cli/mcp-stage.ts";
import { replayRun } from "../../packages/replay/src/index.ts";
import {
  countFacts,
  DIAMOND,
  HELD,
  ONE,
  openCluster,
  readFacts,
  script,
  verifyAll,
  work,
  WORKER,
} from "./cluster-stage.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

describe("workers on machines of their own", () => {
  it("has the tools of its own MCP servers for a step that names them", async () => {
    verifies("DIST-1", "MCP-1");
    const tool = "mcp.files.list_allowed_directories";
    const { plan, machine, store } = await openCluster(bundle, (usual) =>
      usual.replace('"code.run_command",', `"code.run_command", "${tool}",`),
    );
    const task = await plan(ONE);
    const machines = await Promise.all([machine(), machine()]);
    for (const one of machines) {
      const mcpServers = { files: node([FILESYSTEM, one.project]) };
      await one.write(join(one.home, "mcp.json"), JSON.stringify({ mcpServers }));
    }
    const [there, lead] = machines;
    const worker = await there.worker({
      plays: script(work(`{ tool: ${tool}, input: {} }`)),
      args: ["--allow", tool],
    });
    await worker.printed("takes steps");
    const driven = await lead.drive(task.id, "--allow", tool).ended;
    expect(driven).toMatchObject({ code: 0, stderr: "" });
    expect(await countFacts(store, "task.step.completed")).toEqual({ plan: 1 });
    const { last_run_id = "" } = await task.step("plan");
    const run = await store.findRun(last_run_id);
    const results = (await readFacts(store, run?.session_id ?? "")).filter(
      ({ type, tool_name }) => type === "tool.completed" && tool_name === tool,
    );
    expect(JSON.stringify(results)).toContain(there.project);
  });

  it("do the diamond: each step once, with both sides on record", async () => {
    verifies("CLI-5", "DIST-1", "TASK-4", "PERM-12");
    const { store, plan, machine } = await openCluster(bundle);
    const task = await plan(DIAMOND);
    const machines = await Promise.all([machine(), machine(), machine()]);
    const workers = await Promise.all(machines.map((one) => one.worker()));
    await Promise.all(workers.map((one) => one.printed("takes steps")));
    const lead = await machine();
    const driven = await lead.drive(task.id).ended;
    expect(driven).toMatchObject({ code: 0, stderr: "" });
    expect(driven.stdout).toContain("The task is completed. All steps are done: 4 completed.");
    const begun = workers.flatMap((one) => one.output().match(/→ \w+/g) ?? []);
    expect(begun.toSorted()).toEqual(["→ join", "→ left", "→ plan", "→ right"]);

    const facts = await readFacts(store, task.session_id);
    const ended = facts.filter((fact) => fact.type === "agent.child.completed");
    expect(ended).toHaveLength(4);
    expect(facts.filter(({ type }) => type === "agent.child.created")).toHaveLength(4);
    for (const { data, run_id } of ended) {
      const { child_session_id = "", child_run_id, step_id, worker, head_hash } = data;
      expect(worker).toMatch(WORKER);
      expect(data.summary).toBe("Done.");
      expect(await task.step(String(step_id))).toMatchObject({
        attempts: 1,
        last_run_id: child_run_id,
        last_worker: worker,
      });
      const reader = await store.readSession(child_session_id);
      const own = await reader.facts({ limit: 1000 });
      expect(own.filter(({ type }) => type === "task.step.completed")).toHaveLength(1);
      // The hash is of the fact that the next one follows, or of the last.
      const hashes = [...own.map(({ prev_hash }) => prev_hash), (await reader.record()).head_hash];
      expect(hashes).toContain(head_hash);
      expect(own.find(({ type }) => type === "run.started")).toMatchObject({
        run_id: child_run_id,
        parent_run_id: run_id,
      });
      expect(
        await replayRun({
          source: await store.readSession(task.session_id),
          run_id: String(run_id),
        }),
      ).toMatchObject({ outcome: "same" });
    }

    expect(await verifyAll(store)).toBe(5);
    const shown = await lead.run(["tasks", task.id]);
    expect(shown.stdout.match(/completed, by builders@\S+\/1: It is\./g)).toHaveLength(4);
  });

  it("say to the driving machine why they failed, and so do their sessions", async () => {
    verifies("DIST-1", "AGENT-4");
    const { store, plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const lead = await machine();
    // Of the second on, the script has no turn after the first.
    const begins = work().replace(/ \}, \{ calls.*/, " } ]");
    const worker = await lead.worker({ plays: script("[ { text: Later. } ]", begins, begins) });
    await worker.printed("takes steps");
    const driven = await lead.drive(task.id).ended;
    expect(driven.code).toBe(1);
    expect(driven.stdout).toMatch(
      /← plan given back, \S+: its worker ended without finishing it\n/,
    );
    expect(driven.stdout).toMatch(/← plan failed, \S+: .* failed: script:work\.yaml has 1 turn/);
    await worker.printed(/← plan of \S+: not finished: its run ended as completed/);
    const facts = await readFacts(store, task.session_id);
    const ends = facts.flatMap(({ type, data }) =>
      /^agent\.child\.(?:completed|failed)$/.test(type) ? [{ type, ...data }] : [],
    );
    expect(ends).toMatchObject([
      { type: "agent.child.completed", reason: "completed", turns: 1, summary: "Later." },
      { type: "agent.child.failed", reason: "failed", turns: 2, error: { code: "script" } },
      { type: "agent.child.failed", reason: "failed", turns: 2, error: { code: "script" } },
    ]);
    const sessions = await lead.records("sessions", "--all", "--json");
    const workers = sessions.filter((one) => one["worker_of"] !== undefined);
    expect(workers.map(({ status, reason = "" }) => [status, String(reason).slice(0, 6)])).toEqual([
      ["failed", "script"],
      ["failed", "script"],
      ["done", ""],
    ]);
  });

  it("have sessions that any machine lists, shows and replays", async () => {
    verifies("DIST-1", "CLI-5");
    const { plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const there = await machine();
    const worker = await there.worker({ plays: script(HELD) });
    const lead = await machine();
    const driving = lead.drive(task.id);
    await there.has("ran");
    const list = () => lead.run(["sessions", "--all"]);
    const mark = `worker of plan in ${task.id} · `;
    expect((await list()).stdout).toContain(
      `Build it: Do plan\n    running · ${mark}just now · 1 turn`,
    );
    expect((await lead.run(["tasks", task.id])).stdout).toMatch(/running, by builders@\S+\/1/);
    const listed = (await lead.run(["workers"])).stdout;
    expect(listed).toMatch(new RegExp(`${task.id} plan in session_\\w+, for `));
    await there.write("gate", "");
    expect(await driving.ended).toMatchObject({ code: 0 });
    await worker.stop("SIGTERM");
    const sessions = await lead.records("sessions", "--all");
    const own = sessions.find((one) => one["worker_of"] !== undefined);
    expect(own).toMatchObject({
      status: "done",
      turns: 1,
      usage: { requests: 4 },
      worker_of: { task_id: task.id, step_id: "plan" },
    });
    const id = String(own?.["session_id"]);
    expect(await lead.records("replay", id)).toMatchObject([{ outcome: "same" }]);
    expect((await lead.run(["events", id])).stdout).toContain("code.run_command");
    const text = (await lead.run(["show", id])).stdout;
    expect(text).toContain("You are the worker builders@");
    expect(text).toContain("code.run_command");
  });

  it("are dispatched by a model, too", async () => {
    verifies("DIST-1", "SCHED-2");
    const { store, plan, machine } = await openCluster(bundle);
    const { id, session_id } = await plan(ONE);
    const there = await machine();
    const worker = await there.worker();
    await worker.printed("takes steps");
    const lead = await machine();
    const input = `{ pool: builders, task_id: ${id}, step_id: plan }`;
    await lead.write(
      "lead.yaml",
      `turns:
  - calls: [ { tool: agent.dispatch_worker, input: ${input} } ]
  - expect: [ { result: 0, status: ok, contains: step plan is completed } ]
    text: All done.
`,
    );
    const model = ["--mode", "orchestrator", "--model", "script:lead.yaml"];
    const resumed = await lead.run(["resume", session_id, "Do it", ...model]);
    expect(resumed).toMatchObject({ code: 0, stdout: "All done.\n" });
    const facts = await readFacts(store, session_id);
    expect(facts.find(({ type }) => type === "worker.dispatched")?.data).toMatchObject({
      step_id: "plan",
      worker: expect.stringMatching(WORKER) as string,
    });
  });
});
