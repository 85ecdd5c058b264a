// The commands of a home whose sessions are in PostgreSQL: all that works on SQLite works there, and no command shows the
// password of the database.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { usePostgres } from "../postgres/shared.ts";
import { bundleCli, environment, recordsOf, type CliBundle, type Place } from "./cli-bundle.ts";
import { startInspector } from "./inspect-stage.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const WAIT = { timeout: 30_000, interval: 20 };

interface SharedPlace extends Place {
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  /** The records a command printed, when it ends with 0. */
  records(...args: readonly string[]): Promise<Record<string, unknown>[]>;
}

/** A home whose config names the database, with the password in a variable of every command. */
async function sharedPlace(): Promise<SharedPlace> {
  const whole = await usePostgres();
  const url = new URL(whole);
  const env = { DB_PASSWORD: url.password };
  url.password = "";
  const place = await bundle.place();
  await place.write(
    join(place.home, "config.toml"),
    `[store]\nurl = "${url.href}"\npassword_env = "DB_PASSWORD"\n`,
  );
  const start: Place["start"] = (args, options) => place.start(args, { ...options, env });
  const run: Place["run"] = (args, options) => start(args, options).ended;
  return {
    ...place,
    url: whole,
    env,
    start,
    run,
    async records(...args) {
      const ended = await run([...args, "--json"]);
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      return recordsOf(ended);
    },
  };
}

const SCRIPT = `
turns:
  - text: Looking.
    calls:
      - { tool: code.read_file, input: { path: a.txt } }
      - { tool: code.write_file, input: { path: a.txt, content: "new", overwrite: true } }
  - text: All done.
`;
const RULES = ["--allow", "code.run_command", "--allow", "code.write_file"];
const RUN = ["run", "--model", "script:s.yaml", ...RULES, "Change it"];

describe("a home with a database elsewhere", () => {
  it("says that nothing is stored before the first session, and makes no tables for a look", async () => {
    verifies("STORE-1");
    const place = await sharedPlace();
    expect(await place.run(["sessions"])).toMatchObject({ code: 0, stdout: "" });
    expect(await place.run(["show"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("nothing is kept") as string,
    });
    expect(existsSync(join(place.home, "store"))).toBe(false);
  });

  it("keeps a run there: it is listed, shown, verified, replayed, exported, undone, rewound and removed", async () => {
    verifies("STORE-1", "DIST-1");
    const place = await sharedPlace();
    await place.write("a.txt", "old");
    await place.write("s.yaml", SCRIPT);
    expect(await place.run(RUN)).toMatchObject({ code: 0, stdout: "All done.\n" });
    expect(existsSync(join(place.home, "store", "soong.db"))).toBe(false);

    const [session] = await place.records("sessions");
    const session_id = String(session?.["session_id"]);
    expect(await place.records("store")).toMatchObject([
      { schema: "soong.store/1", kind: "postgres", database_schema: "soong", sessions: 1 },
    ]);
    expect((await place.run(["show"])).stdout).toContain("Change it");
    expect((await place.run(["sessions", "search", "all done"])).stdout).toContain(session_id);
    expect((await place.run(["events"])).stdout).toContain("code.write_file");
    expect((await place.run(["events", "--follow"])).code).toBe(0);
    expect(await place.records("replay")).toMatchObject([{ outcome: "same" }]);
    expect(await place.records("verify", "--all", "--artifacts")).toMatchObject([{ ok: true }]);
    expect((await place.run(["export", "--format", "agent-tool"])).stdout).toContain(
      "code.read_file",
    );

    expect((await place.run(["undo", "--yes"])).code).toBe(0);
    expect(await place.read("a.txt")).toBe("old");

    await place.write("s.yaml", "turns: [ { text: Once more. } ]");
    const resumed = ["resume", session_id, "Again", "--model", "script:s.yaml"];
    expect(await place.run(resumed)).toMatchObject({ code: 0, stdout: "Once more.\n" });
    const [node = ""] = /node_\w+/.exec((await place.run(["rewind"])).stdout) ?? [];
    expect(await place.run(["rewind", session_id, node])).toMatchObject({ code: 0 });
    expect(await place.records("verify", "--artifacts")).toMatchObject([{ ok: true }]);

    expect((await place.run(["sessions", "rm", session_id])).code).toBe(0);
    expect(await place.records("sessions", "--all")).toEqual([]);
    expect((await place.run(["show", session_id])).stderr).toContain("was removed");
  });

  it("shares it with another home that has its URL, and with no one else", async () => {
    verifies("DIST-1");
    const place = await sharedPlace();
    await place.write("s.yaml", "turns: [ { text: Done. } ]");
    await place.run(["run", "--model", "script:s.yaml", "go"]);
    const other = await bundle.place();
    const env = { SOONG_STORE_URL: place.url };
    const list = ["sessions", "--all", "--json"];
    expect(recordsOf(await other.run(list, { env }))).toHaveLength(1);
    expect(recordsOf(await other.run(list))).toEqual([]);
  });

  it("continues a run whose process was killed, and does nothing twice", async () => {
    verifies("STORE-3", "STORE-5");
    const place = await sharedPlace();
    await place.write(
      "s.yaml",
      `turns: [ { calls: [ { tool: code.run_command, input: { argv: [sh, -c, "echo x >> ran; cat gate"] } } ] } ]`,
    );
    await once(spawn("mkfifo", [join(place.project, "gate")]), "close");
    const run = place.start(RUN);
    await vi.waitFor(() => expect(existsSync(join(place.project, "ran"))).toBe(true), WAIT);
    const [held] = await place.records("sessions");
    const removing = await place.run(["sessions", "rm", String(held?.["session_id"])]);
    expect(removing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("in use") as string,
    });
    run.child.kill("SIGKILL");
    await run.ended;
    await place.write(
      "s.yaml",
      `turns: [ { expect: [ { result: 0, contains: "may or may not have happened" } ], text: Continued. } ]`,
    );
    const resumed = await place.run(["resume", "--model", "script:s.yaml"]);
    expect(resumed).toMatchObject({ code: 0, stdout: "Continued.\n" });
    expect(await place.read("ran")).toBe("x\n");
  });

  it("keeps an open question when its process is killed, and takes the answer from another", async () => {
    verifies("PERM-20");
    const place = await sharedPlace();
    await place.write("s.yaml", ASKS);
    await once(spawn("mkfifo", [join(place.project, "gate")]), "close");
    const run = place.start([
      "run",
      "--model",
      "script:s.yaml",
      "--allow",
      "code.run_command",
      "go",
    ]);
    const attached = await attach(place);
    await place.write("gate", "open");
    await attached("question");
    const [question] = await place.records("questions");
    expect((await place.run(["grants"])).stderr).toContain("Nothing is granted");
    run.child.kill("SIGKILL");
    await run.ended;
    const question_id = String(question?.["question_id"]);
    const answered = await place.run(["questions", "answer", question_id, "deny"]);
    expect(answered.code, answered.stderr).toBe(0);
    await place.write("s.yaml", ASKS_AGAIN);
    const resumed = await place.run(["resume", "--model", "script:s.yaml"]);
    expect(resumed).toMatchObject({ code: 0, stdout: "Continued.\n" });
    expect(existsSync(join(place.project, "a.txt"))).toBe(false);
    expect(await place.records("questions")).toEqual([]);
  });

  it("has tasks there, which workers of another process do", async () => {
    verifies("TASK-1");
    const place = await sharedPlace();
    await place.write("plan.yaml", PLAN);
    const planned = [
      "run",
      "--mode",
      "orchestrator",
      "--model",
      "script:plan.yaml",
      "--allow",
      "*",
    ];
    expect(await place.run([...planned, "go"])).toMatchObject({ code: 0 });
    const [task_id = ""] = /task_\w+/.exec((await place.run(["tasks"])).stdout) ?? [];
    await place.write("work.yaml", WORK);
    const drive = ["tasks", "drive", task_id, "--model", "script:work.yaml"];
    expect(await place.run(drive)).toMatchObject({ code: 0 });
    expect((await place.run(["tasks", task_id])).stdout).toContain("completed");
  });

  it("is inspected from another home, and events of a live run are followed", async () => {
    verifies("DIST-1", "UI-1");
    const place = await sharedPlace();
    await place.write("s.yaml", ASKS);
    await once(spawn("mkfifo", [join(place.project, "gate")]), "close");
    const run = place.start(["run", "--model", "script:s.yaml", ...RULES, "go"]);
    await attach(place);
    const followed = place.start(["events", "--follow"]);
    const seen = once(createInterface({ input: followed.child.stdout! }), "line");
    const other = await bundle.place();
    const inspector = await startInspector(bundle, other, { SOONG_STORE_URL: place.url });
    const { sessions } = await inspector.home((home) => home.sessions.length === 1);
    const rows = await inspector.facts(String(sessions[0]?.session_id));
    expect(JSON.stringify(rows)).toContain("code.run_command");
    await seen;
    await place.write("gate", "open");
    await run.ended;
    expect(await followed.ended).toMatchObject({ code: 0 });
  });

  it("serves tools to another agent, and records their calls there", async () => {
    verifies("STORE-1");
    const place = await sharedPlace();
    await place.write("a.txt", "hello");
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [bundle.program, "mcp", "serve"],
        cwd: place.project,
        env: environment(place.home, place.env),
        stderr: "ignore",
      }),
    );
    const answer = await client.callTool({ name: "code.read_file", arguments: { path: "a.txt" } });
    expect(JSON.stringify(answer)).toContain("hello");
    await client.close();
    await vi.waitFor(
      async () => expect((await place.run(["events"])).stdout).toContain("code.read_file"),
      WAIT,
    );
  });

  it("removes what the config does not keep", async () => {
    verifies("ART-4");
    const place = await sharedPlace();
    const config = await place.read(join(place.home, "config.toml"));
    await place.write("s.yaml", "turns: [ { text: Done. } ]");
    const run = ["run", "--model", "script:s.yaml", "go"];
    await place.run(run);
    await place.write(join(place.home, "config.toml"), `${config}retention = { max_bytes = 1 }\n`);
    const second = await place.run(run);
    expect(second.stderr).toContain("1 session was removed");
    expect(await place.records("sessions")).toHaveLength(1);
  });
});

const WRITE = "{ tool: code.write_file, input: { path: a.txt, content: new } }";
const ASKS = `
turns:
  - calls: [ { tool: code.run_command, input: { argv: [cat, gate] } } ]
  - calls: [ ${WRITE} ]
`;
const ASKS_AGAIN = `turns: [ { calls: [ ${WRITE} ] }, { text: Continued. } ]`;

/** A second terminal; resolves once it is there. It answers with when an event has come. */
async function attach({ home, project, env }: SharedPlace) {
  const sockets = join(home, "control");
  await vi.waitFor(
    () => expect(existsSync(sockets) && readdirSync(sockets)[0]).toMatch(/\.sock$/),
    WAIT,
  );
  const child = spawn(process.execPath, [bundle.program, "attach", "--json"], {
    cwd: project,
    env: environment(home, env),
    stdio: ["pipe", "pipe", "inherit"],
  });
  // It may have ended when it is written to.
  child.stdin.on("error", () => {});
  onTestFinished(() => void child.kill("SIGKILL"));
  const events: unknown[] = [];
  createInterface({ input: child.stdout }).on("line", (line) =>
    events.push((JSON.parse(line) as { event: string }).event),
  );
  const happened = (event: string) => vi.waitFor(() => expect(events).toContain(event), WAIT);
  await happened("attached");
  return happened;
}

const PLAN = `
turns:
  - calls:
      - tool: agent.task_create
        input:
          title: Build it
          goal: A thing is built.
          steps: [ { step_id: one, title: Do it, instructions: Do. } ]
  - text: The plan is made.
`;
const UPDATE = "tool: agent.task_update_step";
const WORK = `
turns: [ { text: never } ]
agents:
  default_worker_agent:
    - - { calls: [ { ${UPDATE}, input: { status: running } } ] }
      - { calls: [ { ${UPDATE}, input: { status: completed, summary: It is. } } ] }
      - { text: Done. }
`;

describe("the password of the database", () => {
  it("reaches no command, record, list or log, also where it is in SOONG_STORE_URL", async () => {
    verifies("REDACT-3", "CMD-1");
    const url = await usePostgres();
    const { password } = new URL(url);
    const env = { SOONG_STORE_URL: url };
    const place = await bundle.place();
    await place.write(
      "s.yaml",
      `turns:
  - calls:
      - { tool: code.run_command, input: { argv: [env] } }
      - { tool: code.run_command, input: { argv: [echo, "it is ${password}"] } }
  - text: "It was ${password}."
`,
    );
    const run = await place.run(["run", "--model", "script:s.yaml", "--allow", "*", "go"], { env });
    expect(run).toMatchObject({ code: 0, stdout: "It was [redacted:SOONG_STORE_URL].\n" });
    const shown = [run.stderr];
    for (const args of [["events", "--json"], ["show", "--full"], ["export"], ["doctor"]]) {
      const { stdout, stderr } = await place.run(args, { env });
      shown.push(stdout, stderr);
    }
    expect(shown.join("\n")).toContain("it is [redacted:SOONG_STORE_URL]");
    expect(shown.join("\n")).not.toContain("SOONG_STORE_URL=");
    expect(shown.join("\n")).not.toContain(password);
    for (const entry of await readdir(place.home, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const text = await readFile(join(entry.parentPath, entry.name), "latin1");
      expect(text).not.toContain(password);
    }
  });
});
