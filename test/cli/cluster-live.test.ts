// A session that one machine holds, seen, answered and ended from another: two homes that share nothing but the database.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { MARKER_NAME } from "@soong/platform";
import { openStore, type WorkerReport } from "@soong/store";
import { startProxy } from "../postgres/proxy.ts";
import { usePostgres } from "../postgres/shared.ts";
import { ask } from "../store/postgres/postgres-stage.ts";
import {
  HELD,
  ONE,
  openCluster,
  script,
  work,
  type Machine as ClusterMachine,
} from "../worker/cluster-stage.ts";
import { bundleCli, environment, recordsOf, type CliBundle, type Place } from "./cli-bundle.ts";
import { startInspector } from "./inspect-stage.ts";
import { atTerminal, canMakeTerminals } from "./pseudo-terminal.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const WAIT = { timeout: 30_000, interval: 20 };

const WRITES = `
turns:
  - calls: [ { tool: code.run_command, input: { argv: [cat, gate] } } ]
  - calls: [ { tool: code.write_file, input: { path: a.txt, content: one, overwrite: true } } ]
  - calls: [ { tool: code.run_command, input: { argv: [cat, gate] } } ]
  - text: Done.
`;

const AGAIN = `
turns:
  - calls: [ { tool: code.write_file, input: { path: a.txt, content: one, overwrite: true } } ]
  - text: Continued.
`;

const RUN = ["run", "--model", "script:s.yaml", "--allow", "code.run_command", "go"];

describe("a session of another machine", () => {
  it("is followed to its end", async () => {
    verifies("CLI-4");
    const { here, there, openGate } = await machines();
    const run = there.start([...RUN, "--allow", "code.write_file"]);
    const run_id = await runUnderWay(here);
    const followed = here.start(["events", run_id, "--follow", "--json"]);
    const types = collect(followed.child, "type");
    await vi.waitFor(() => expect(types).toContain("tool.started"), WAIT);
    await openGate();
    await vi.waitFor(() => expect(types.filter(isStart)).toHaveLength(3), WAIT);
    await openGate();
    expect(await followed.ended).toMatchObject({ code: 0, stderr: "" });
    expect(types.at(-1)).toBe("run.completed");
    expect(await run.ended).toMatchObject({ code: 0 });
  });

  it("asks what is listed, answered and granted from here, and the grant is revoked from here", async () => {
    verifies("PERM-20", "CLI-7");
    const { here, there, openGate } = await machines();
    const run = there.start(RUN);
    const attached = await attend(there);
    await openGate();
    await vi.waitFor(() => expect(attached).toContain("question"), WAIT);
    const [question] = recordsOf(await here.run(["questions", "--json"]));
    expect(question).toMatchObject({ tool_name: "code.write_file", state: "open" });
    const inspector = await startInspector(bundle, here, here.env);
    const shown = await inspector.question();
    expect(shown).toMatchObject({ question_id: question?.["question_id"], pid: run.child.pid });
    expect(await inspector.answer(shown, { decision: "allow_for_session" })).toEqual({});
    await vi.waitFor(() => expect(existsSync(join(there.project, "a.txt"))).toBe(true), WAIT);

    const place = { pid: run.child.pid, project: there.project };
    const [grant] = recordsOf(await here.run(["grants", "--json"]));
    expect(grant).toMatchObject({ ...place, granted_by: "control:inspector" });
    const id = String(grant?.["grant_id"]);
    expect((await here.run(["grants"])).stdout).toContain(`(process ${run.child.pid} on `);
    expect(await here.run(["grants", "revoke", id])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`revoked ${id}`) as string,
    });
    expect(recordsOf(await there.run(["grants", "--json"]))).toEqual([]);
    expect(await here.run(["grants", "revoke", id])).toMatchObject({ code: 1 });
    await openGate();
    expect(await run.ended).toMatchObject({ code: 0 });
  });

  it("has what is sensitive approved only where it is asked: from here it is denied", async () => {
    verifies("PERM-19", "PIPE-9");
    const { here, there, openGate } = await machines();
    await there.write("s.yaml", WRITES.replace("path: a.txt", "path: .env"));
    await there.write(".env", "KEY=old");
    const run = there.start(RUN);
    const attached = await attend(there);
    await openGate();
    await vi.waitFor(() => expect(attached).toContain("question"), WAIT);
    const inspector = await startInspector(bundle, here, here.env);
    const shown = await inspector.question();
    expect(JSON.stringify(shown)).not.toContain("KEY=old");
    expect(await inspector.answer(shown, { decision: "allow_once" })).toMatchObject({
      error: { code: "bad_request", message: expect.stringContaining("only be denied") as string },
    });
    expect(await inspector.answer(shown, { action: "accept" })).toMatchObject({
      error: { code: "bad_request" },
    });
    expect(await inspector.answer(shown, { decision: "deny" })).toEqual({});
    expect(await inspector.answer(shown, { decision: "deny" })).toMatchObject({
      error: { code: "settled" },
    });
    await openGate();
    expect(await run.ended).toMatchObject({ code: 0 });
    expect(await there.read(".env")).toBe("KEY=old");
  });

  it("is attached to from here: followed, answered and asked for its grants, until it ends", async () => {
    verifies("CLI-8", "PERM-20", "CLI-7");
    const { here, there, openGate } = await machines();
    const run = there.start(RUN);
    await attend(there);
    const [session] = recordsOf(await here.run(["sessions", "--all", "--json"]));
    const attached = attachFrom(here, String(session?.["session_id"]).slice("session_".length));
    expect(await attached.next("attached")).toMatchObject({
      session_id: session?.["session_id"],
      pid: run.child.pid,
      project: there.project,
      host: expect.any(String) as string,
    });
    await openGate();
    const { question_id, request } = await attached.next("question");
    expect(request).toMatchObject({ tool_name: "code.write_file", preview: { kind: "diff" } });
    attached.say({ question_id, action: "accept" });
    expect(await attached.next("refused")).toMatchObject({
      question_id,
      message: expect.stringContaining("another kind") as string,
    });
    attached.say({ question_id, decision: "allow_for_session" });
    expect(await attached.next("settled")).toMatchObject({
      outcome: "answered",
      decision: "allow_for_session",
      answered_by: "control:attach",
    });
    await vi.waitFor(() => expect(existsSync(join(there.project, "a.txt"))).toBe(true), WAIT);
    attached.say({ method: "grants.list" });
    const { grants } = await attached.next("result");
    const [grant] = grants as Record<string, unknown>[];
    expect(grant).toMatchObject({ tool_name: "code.write_file", granted_by: "control:attach" });
    attached.say({ method: "grants.revoke", params: { grant_id: grant?.["grant_id"] } });
    expect(await attached.next("result")).toMatchObject({ method: "grants.revoke", grant });
    expect(recordsOf(await there.run(["grants", "--json"]))).toEqual([]);
    attached.say({ method: "tools.call" });
    expect(await attached.next("refused")).toMatchObject({ method: "tools.call" });
    await openGate();
    expect(await run.ended).toMatchObject({ code: 0 });
    await attached.next("ended");
    const facts = attached.all("fact").map(({ fact }) => fact as { seq: number; type: string });
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, at) => (facts[0]?.seq ?? 0) + at));
    expect(facts.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["run.started", "permission.resolved", "grant.revoked"]),
    );
    expect(facts.at(-1)?.type).toBe("run.completed");
  });

  it("is followed by attach until a fact of it cannot be read, which is reported", async () => {
    verifies("CLI-8", "EVENT-6");
    const { here, there, openGate } = await machines();
    const run = there.start(RUN);
    onTestFinished(() => void run.child.kill("SIGKILL"));
    await runUnderWay(here);
    const attached = here.start(["attach", "--json"]);
    const events = collect(attached.child, "event");
    await vi.waitFor(() => expect(events).toContain("attached"), WAIT);
    // As someone who changes rows by hand would leave them.
    await ask(
      here.env["SOONG_STORE_URL"] ?? "",
      `CREATE FUNCTION soong.damage() RETURNS trigger LANGUAGE plpgsql
         AS 'BEGIN NEW.line := ''x''; RETURN NEW; END';
       CREATE TRIGGER damage BEFORE INSERT ON soong.facts
         FOR EACH ROW EXECUTE FUNCTION soong.damage()`,
    );
    await openGate();
    expect(await attached.ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Fact \d+ of session \S+ in \S+ is not what was/) as string,
    });
  });

  it("is stopped by attach from here; what a runtime has started may only look", async () => {
    verifies("CLI-8", "MCP-11");
    const { here, there } = await machines();
    const run = there.start([...RUN, "--json"]);
    const run_id = await runUnderWay(here);
    // The marker of what a runtime has started.
    const own = { env: { ...here.env, [MARKER_NAME]: "1" } };
    const refused = await here.run(["attach", "--abort"], own);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain("What a runtime has started cannot act on it");
    expect(await here.run(["attach", "--abort", "nosuch"])).toMatchObject({ code: 1 });
    expect(await here.run(["attach", "--abort"])).toMatchObject({
      code: 0,
      stdout: `stopping ${run_id}\n`,
    });
    const ended = await run.ended;
    expect(recordsOf(ended).at(-1)).toMatchObject({ type: "run.aborted" });
    expect(ended.stdout).toContain("aborted by soong attach");
    const late = await here.run(["attach", "--abort"]);
    expect(late).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("No session is live") as string,
    });
  });

  it("is stopped from the inspector, with the reason on record", async () => {
    verifies("CLI-8");
    const { here, there } = await machines();
    const run = there.start([...RUN, "--json"]);
    const run_id = await runUnderWay(here);
    const inspector = await startInspector(bundle, here, here.env);
    const { sessions } = await inspector.home((home) => home.sessions.some(isLive));
    const [session] = sessions.filter(isLive);
    expect(session?.live).toMatchObject({ pid: run.child.pid, runs: [{ run_id }] });
    const session_id = session?.session_id ?? "";
    const abort = `/api/runs/${run_id}/abort`;
    expect(await inspector.ask("POST", abort, { session_id })).toEqual({ run_ids: [run_id] });
    const ended = await run.ended;
    expect(ended.code).not.toBe(0);
    expect(recordsOf(ended).at(-1)).toMatchObject({ type: "run.aborted" });
    expect(ended.stdout).toContain("aborted from the inspector");
    expect(await inspector.ask("POST", abort, { session_id })).toMatchObject({
      error: { code: "gone" },
    });
  });

  it.skipIf(!canMakeTerminals())(
    "leaves its question when it is killed: answered here, the answer is used when it is resumed there (needs python3)",
    async () => {
      verifies("PERM-20");
      const { here, there, openGate } = await machines();
      const run = there.start(RUN);
      const attached = await attend(there);
      await openGate();
      await vi.waitFor(() => expect(attached).toContain("question"), WAIT);
      run.child.kill("SIGKILL");
      await run.ended;
      const [question] = recordsOf(await here.run(["questions", "--json"]));
      const [question_id, session_id] = [
        String(question?.["question_id"]),
        String(question?.["session_id"]),
      ];
      const answered = await atTerminal(
        [process.execPath, bundle.program, "questions", "answer", question_id],
        [{ after: "[n]o: ", type: "y\n" }],
        { cwd: here.project, env: environment(here.home, here.env) },
      );
      expect(answered.code, answered.screen).toBe(0);
      await there.write("s.yaml", AGAIN);
      const resume = ["resume", session_id, "--model", "script:s.yaml", "--json"];
      const continued = await there.run(resume);
      expect(continued.code, continued.stderr).toBe(0);
      expect(await there.read("a.txt")).toBe("one");
      expect(continued.stdout).toContain(question_id);
    },
  );
});

describe("the run folders of a machine", () => {
  it("go with their sessions, also when another machine removes those; others stay", async () => {
    verifies("ART-4");
    const { here, there } = await machines();
    const folders = (): string[] => readdirSync(join(there.home, "runs")).toSorted();
    const call = ["call", "code.list_dir", "{}"];
    // Of the time before, when the home had SQLite, and of no one.
    const alone = { env: { SOONG_STORE_URL: "" } };
    expect(await there.run(call, alone)).toMatchObject({ code: 0 });
    await there.write(join(there.home, "runs", "mine", "notes.txt"), "x");
    const before = folders();
    expect(before).toHaveLength(2);
    expect(await there.run(call)).toMatchObject({ code: 0 });
    expect(await there.run(call)).toMatchObject({ code: 0 });
    expect(folders()).toHaveLength(4);
    const [kept, removed] = recordsOf(await here.run(["sessions", "--all", "--json"]));
    const [run] = recordsOf(await here.run(["events", String(kept?.["session_id"]), "--json"]));
    expect(await here.run(["sessions", "rm", String(removed?.["session_id"])])).toMatchObject({
      code: 0,
    });
    expect(folders()).toHaveLength(4);
    // A session of the same id in another store is another one.
    expect(await there.run(["doctor"], alone)).toMatchObject({
      stdout: expect.any(String) as string,
    });
    expect(folders()).toHaveLength(4);
    expect(await there.run(call)).toMatchObject({ code: 0 });
    const after = folders();
    expect(after).toHaveLength(4);
    expect(after).toEqual(expect.arrayContaining([...before, String(run?.["run_id"])]));
  });
});

describe("workers", () => {
  it("are listed on any machine with what they do, and one is drained", async () => {
    verifies("DIST-1");
    const { here, there } = await machines();
    const store = await openStore({ directory: there.home, url: here.env["SOONG_STORE_URL"] });
    onTestFinished(() => store.close());
    const since = "2026-01-01T00:00:01.000Z";
    const doing = [{ task_id: "task_1", step_id: "build", session_id: "session_1", since }];
    for (const worker of [
      { ...WORKER, doing },
      { ...WORKER, worker_id: "worker_2" },
    ]) {
      await store.cluster?.reportWorker(worker);
    }
    const listed = (await here.run(["workers"])).stdout;
    expect(listed).toMatch(
      /worker_1 +builders +working \(1 of 2\)\n +task_1 build in session_1, for \d+ h \d+ min\n/,
    );
    expect(listed).toMatch(/worker_2 +builders +idle \(0 of 2\)\n +on host-a \(process 17\), seen/);
    expect(await here.run(["workers", "drain", "worker_"])).toMatchObject({ code: 2 });
    expect(await here.run(["workers", "drain", "worker_3"])).toMatchObject({ code: 1 });
    expect((await here.run(["workers", "drain", "worker_1"])).stdout).toContain(
      "draining worker_1: it finishes 1 step, takes no more, and ends.",
    );
    expect(await store.cluster?.reportWorker(WORKER)).toEqual({ draining: true });
    expect(recordsOf(await here.run(["workers", "--json"]))).toMatchObject([
      { schema: "soong.workers/1", worker_id: "worker_1", state: "draining" },
      { worker_id: "worker_2", state: "idle" },
    ]);
  });

  it("are lost when they have missed two reports, and their steps are another worker's soon", async () => {
    verifies("DIST-1");
    const { here, there } = await machines();
    const url = here.env["SOONG_STORE_URL"] ?? "";
    const store = await openStore({ directory: there.home, url });
    onTestFinished(() => store.close());
    const doing = [{ task_id: "task_1", step_id: "build", since: "2026-01-01T00:00:01.000Z" }];
    await store.cluster?.reportWorker({ ...WORKER, doing });
    const age = async (seconds: number): Promise<void> => {
      const sql = `UPDATE soong.pool_workers SET seen_at = clock_timestamp() - interval '${seconds} s'`;
      await ask(url, sql);
    };
    await age(5);
    expect((await here.run(["workers"])).stdout).toMatch(
      /working \(1 of 2\)\n.*\n +on host-a \(process 17\), seen \d+ s ago\n/,
    );
    await age(40);
    expect((await here.run(["workers"])).stdout).toMatch(
      /lost \(1 of 2\)\n +task_1 build, when it was last seen; if that has not ended, another worker gets it when the lease ends\n.*not seen for \d+ s\n/,
    );
    const [listed] = recordsOf(await here.run(["workers", "--json"]));
    expect(listed).toMatchObject({ worker_id: "worker_1", state: "lost" });
    expect(listed).not.toHaveProperty("seen_ms_ago");
    expect((await here.run(["workers", "drain", "worker_1"])).stdout).toBe(
      "worker_1 is lost: it takes no more if it comes back.\n",
    );
  });

  it("are none at first, and need a store that machines share", async () => {
    verifies("DIST-1");
    const { here } = await machines();
    const none = await here.run(["workers"]);
    expect(none).toMatchObject({ code: 0, stdout: "" });
    expect(none.stderr).toContain("`soong worker --pool NAME` starts one");
    const alone = await bundle.place();
    for (const args of [["workers"], ["workers", "drain", "w1"]]) {
      const refused = await alone.run(args);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toContain("set store.url in config.toml, or SOONG_STORE_URL");
    }
  });
});

describe("a question of a worker", () => {
  it("offers no rule; where one is wanted, the answer is for the worker's session", async () => {
    verifies("DIST-1", "PERM-18", "PERM-20");
    const { plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const [there, lead] = await Promise.all([machine(), machine()]);
    const before = await there.read(join(there.home, "config.toml"));
    const calls = ["w1.txt", "w2.txt"].map(writeFileCall);
    const worker = await startAsking(there, script(work(...calls)));
    const driving = lead.drive(task.id);
    await driving.printed("waits for approval");
    const [question] = await lead.records("questions");
    expect(question).toMatchObject({ tool_name: "code.write_file" });
    expect(JSON.stringify(question)).not.toContain("always_rule");
    expect((await lead.run(["workers"])).stdout).toMatch(
      /plan in session_\w+, for .*\n +waits for approval: Write new file w1\.txt/,
    );
    const attached = attachFrom(lead, String(question?.["session_id"]));
    await attached.next("attached");
    const { question_id } = question ?? {};
    const always = { where: "everywhere" };
    attached.say({ question_id, decision: "allow_for_session", always });
    const driven = await driving.ended;
    expect(driven.code).toBe(0);
    expect(driven.stdout).toMatch(/← plan completed \(1\/1\), builders@\S+\/1: It is\./);
    worker.child.kill("SIGTERM");
    const { stderr } = await worker.ended;
    expect(stderr.match(/The rule was not kept: a worker has only/g)).toHaveLength(1);
    expect(await there.read(join(there.home, "config.toml"))).toBe(before);
    expect(existsSync(join(there.project, "w2.txt"))).toBe(true);
  });

  it("is shown without the secrets of the home that shows it", async () => {
    verifies("DIST-1", "REDACT-3");
    const { plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const knows = '[tools]\nenv_allowlist = ["LEAD_TOKEN"]\n';
    const [there, lead] = await Promise.all([machine(), machine(knows)]);
    await startAsking(there, script(work(writeFileCall("known-only-to-lead.txt"))));
    const env = { LEAD_TOKEN: "known-only-to-lead" };
    const driving = lead.start(["tasks", "drive", task.id, "--model", "script:none.yaml"], { env });
    let printed = "";
    driving.child.stdout?.on("data", (text) => (printed += String(text)));
    await vi.waitFor(() => expect(printed).toContain("waits for approval"), WAIT);
    const [question] = await lead.records("questions");
    const shown = await lead.run(["tasks", task.id], { env });
    expect(shown.stdout).toContain("waits for approval");
    const answer = ["questions", "answer", String(question?.["question_id"]), "deny"];
    expect(await lead.run(answer)).toMatchObject({ code: 0 });
    const { stdout } = await driving.ended;
    expect(stdout).toContain("waits for approval");
    expect(`${shown.stdout}${stdout}`).not.toContain("known-only-to-lead");
  });

  it("that is gone is not answered: its step asks again", async () => {
    verifies("DIST-1", "PERM-20");
    const { plan, machine, store } = await openCluster(bundle);
    const task = await plan(ONE);
    const [there, lead] = await Promise.all([machine(), machine()]);
    const worker = await startAsking(there, script(work(writeFileCall("w1.txt"))));
    const driving = lead.drive(task.id);
    await driving.printed("waits for approval");
    const [question] = await lead.records("questions");
    driving.child.kill("SIGKILL");
    worker.child.kill("SIGKILL");
    const session_id = String(question?.["session_id"]);
    await vi.waitFor(async () => expect(await store.heldSessions([session_id])).toEqual([]), WAIT);
    const answer = ["questions", "answer", String(question?.["question_id"]), "deny"];
    const refused = await lead.run(answer);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(
      `The worker that asked this is gone, so the question was withdrawn. The step plan asks again if another worker takes it (\`soong tasks drive ${task.id}\`).`,
    );
    expect(await store.questions().list(session_id)).toEqual([]);
  });

  it("is withdrawn by the drive when the worker is lost", async () => {
    verifies("DIST-2", "PERM-20");
    const { plan, machine, store } = await openCluster(bundle);
    const task = await plan(ONE);
    const [there, lead] = await Promise.all([machine(), machine()]);
    const worker = await startAsking(there, script(work(writeFileCall("w1.txt"))));
    const driving = lead.drive(task.id);
    await driving.printed("waits for approval");
    const other = await machine();
    expect((await other.run(["grants"])).stderr).toContain(
      "Nothing is granted in the 2 sessions that are live.",
    );
    const second = await other.run(["tasks", "drive", task.id, "--model", "script:none.yaml"]);
    expect(second).toMatchObject({ code: 1 });
    expect(second.stderr).toContain(`The task ${task.id} is driven already`);
    worker.child.kill("SIGKILL");
    await vi.waitFor(async () => expect(await store.questions().list()).toEqual([]), WAIT);
  });
});

describe("a drive with workers of other machines", () => {
  it("says why the task was cancelled", async () => {
    verifies("TASK-6", "DIST-1");
    const { plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const [there, lead] = await Promise.all([machine(), machine()]);
    await there.worker({ plays: script(HELD) });
    const driving = lead.drive(task.id);
    await there.has("ran");
    await lead.run(["tasks", "cancel", task.id, "--reason", "enough"]);
    const { code, stdout } = await driving.ended;
    expect(code).toBe(1);
    expect(stdout).toMatch(/← plan cancelled, builders\S+: .*the task was cancelled: enough/);
  });

  it("that has lost its session says how the task continues", async () => {
    verifies("TASK-6", "CLI-6");
    const { plan, machine, url } = await openCluster(bundle);
    const task = await plan(ONE);
    const lead = await machine();
    const proxy = await startProxy(url);
    onTestFinished(() => proxy.close());
    const model = ["--model", "script:none.yaml"];
    const driving = lead.start(["tasks", "drive", task.id, ...model], {
      env: { SOONG_STORE_URL: proxy.url },
    });
    let printed = "";
    driving.child.stdout?.on("data", (text: string) => (printed += text));
    await vi.waitFor(() => expect(printed).toContain("→ plan"), WAIT);
    proxy.reset();
    const { code, stderr } = await driving.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^soong: Session \S+ was lost: its database could not be reached/m);
    expect(stderr).toContain(`\`soong tasks drive ${task.id}\` continues the task.`);
  });
});

function writeFileCall(path: string): string {
  return `{ tool: code.write_file, input: { path: ${path}, content: x } }`;
}

/** A worker that asks before it writes. */
async function startAsking(there: ClusterMachine, plays: string) {
  await there.write("work.yaml", plays);
  const model = ["--model", "script:work.yaml", "--allow", "code.run_command"];
  const worker = there.start(["worker", "--pool", "builders", ...model]);
  onTestFinished(async () => {
    worker.child.kill("SIGKILL");
    await worker.ended;
  });
  return worker;
}

const WORKER: WorkerReport = {
  worker_id: "worker_1",
  pool: "builders",
  host: "host-a",
  pid: 17,
  version: "0.1.0",
  concurrency: 2,
  started_at: "2026-01-01T00:00:00.000Z",
  doing: [],
};

interface Machine extends Place {
  readonly env: Readonly<Record<string, string>>;
}

/** Two machines with one store. A run `there` waits at its gate. */
async function machines(): Promise<{
  here: Machine;
  there: Machine;
  readonly openGate: () => Promise<void>;
}> {
  const env = { SOONG_STORE_URL: await usePostgres() };
  const [here, there] = [await machine(env), await machine(env)];
  const gate = join(there.project, "gate");
  await once(spawn("mkfifo", [gate]), "close");
  await there.write("s.yaml", WRITES);
  return { here, there, openGate: () => writeFile(gate, "open") };
}

async function machine(env: Machine["env"]): Promise<Machine> {
  const place = await bundle.place();
  const start: Place["start"] = (args, options) => place.start(args, { env, ...options });
  return { ...place, env, start, run: (args, options) => start(args, options).ended };
}

/** The one run there is, as a machine that shares the store sees it. */
async function runUnderWay(from: Machine): Promise<string> {
  let run_id = "";
  await vi.waitFor(async () => {
    const [session] = recordsOf(await from.run(["sessions", "--all", "--json"]));
    const events = await from.run(["events", String(session?.["session_id"]), "--json"]);
    run_id = String(recordsOf(events)[0]?.["run_id"]);
    expect(run_id).toMatch(/^run_/);
  }, WAIT);
  return run_id;
}

/** A program at the socket of the one live session, which answers nothing. The events it gets. */
async function attend(place: Machine): Promise<readonly string[]> {
  const sockets = join(place.home, "control");
  await vi.waitFor(
    () => expect(existsSync(sockets) && readdirSync(sockets)[0]).toMatch(/\.sock$/),
    WAIT,
  );
  const child = spawn(process.execPath, [bundle.program, "attach", "--json"], {
    cwd: place.project,
    env: environment(place.home, place.env),
    stdio: ["pipe", "pipe", "inherit"],
  });
  // It may have ended when it is written to.
  child.stdin.on("error", () => {});
  onTestFinished(() => void child.kill("SIGKILL"));
  const events = collect(child, "event");
  await vi.waitFor(() => expect(events).toContain("attached"), WAIT);
  return events;
}

/** A program that is attached through the store, with the records it gets, each read once. */
function attachFrom(place: Machine, session: string) {
  const child = spawn(process.execPath, [bundle.program, "attach", session, "--json"], {
    cwd: place.project,
    env: environment(place.home, place.env),
    stdio: ["pipe", "pipe", "inherit"],
  });
  // It may have ended when it is written to.
  child.stdin.on("error", () => {});
  onTestFinished(() => void child.kill("SIGKILL"));
  const records: Record<string, unknown>[] = [];
  const read = new Set<object>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    records.push(JSON.parse(line) as Record<string, unknown>);
  });
  return {
    say: (answer: object) => void child.stdin.write(`${JSON.stringify(answer)}\n`),
    all: (event: string) => records.filter((one) => one["event"] === event),
    next: (event: string) =>
      vi.waitFor(() => {
        const found = records.find((one) => one["event"] === event && !read.has(one));
        if (found === undefined) throw new Error(`no ${event} in ${JSON.stringify(records)}`);
        read.add(found);
        return found;
      }, WAIT),
  };
}

/** One field of the records that a program prints. */
function collect(child: ReturnType<Place["start"]>["child"], field: string): readonly string[] {
  const values: string[] = [];
  if (child.stdout === null) return values;
  createInterface({ input: child.stdout }).on("line", (line) => {
    values.push(String((JSON.parse(line) as Record<string, unknown>)[field]));
  });
  return values;
}

function isStart(type: string): boolean {
  return type === "tool.started";
}

function isLive({ live }: { readonly live?: object }): boolean {
  return live !== undefined;
}
