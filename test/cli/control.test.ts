// A run that waits in one process, and others that see it, answer it and take back what was granted.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, readdirSync, symlinkSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { connectControl, listLiveRuntimes } from "@soong/control";
import { bundleCli, environment, recordsOf, type CliBundle, type Place } from "./cli-bundle.ts";
import { atTerminal, canMakeTerminals } from "./pseudo-terminal.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const WRITES = `
turns:
  - text: First I wait.
    calls: [ { tool: code.run_command, input: { argv: [cat, gate] } } ]
  - text: Then I write.
    calls: [ { tool: code.write_file, input: { path: a.txt, content: one } } ]
  - text: And once more.
    calls: [ { tool: code.write_file, input: { path: b.txt, content: two } } ]
  - calls: [ { tool: code.run_command, input: { argv: [cat, gate] } } ]
  - text: And without a grant.
    calls: [ { tool: code.write_file, input: { path: c.txt, content: three } } ]
  - text: Done.
`;

const RUN = ["run", "--model", "script:s.yaml", "--allow", "code.run_command", "go"];

describe("a live session", () => {
  it("is answered, granted and taken back from other processes, and says who it was", async () => {
    verifies("CLI-8", "CLI-7", "PERM-4", "PERM-5");
    const place = await waiting(WRITES);
    const run = place.start(RUN);
    const attached = await attach(place);
    expect(await attached.next("attached")).toMatchObject({
      schema: "soong.attach/1",
      project: place.project,
      pid: run.child.pid,
    });
    expect((await place.run(["grants"])).stderr).toContain("Nothing is granted");
    await place.openGate();

    const asked = await attached.next("question");
    expect(asked).toMatchObject({
      kind: "permission",
      request: { tool_name: "code.write_file", preview: { kind: "diff" } },
    });
    expect(existsSync(join(place.project, "a.txt"))).toBe(false);
    for (const no of ["this is no answer", "[]", "null"]) {
      attached.say(no);
      expect(await attached.next("refused")).toMatchObject({
        message: "An answer is an object in JSON.",
      });
    }
    attached.say({ question_id: "another", decision: "deny" });
    expect(await attached.next("refused")).toMatchObject({ question_id: "another" });
    attached.say({ question_id: asked["question_id"], decision: "allow_for_session" });
    expect(await attached.next("settled")).toMatchObject({
      outcome: "answered",
      answered_by: "control:attach",
    });

    // The second write is covered by the grant; the run waits at its gate again.
    await vi.waitFor(() => expect(existsSync(join(place.project, "b.txt"))).toBe(true), WAIT);
    const listed = await place.run(["grants"]);
    expect(listed.stdout).toMatch(
      /code\.write_file.*For the rest of the session.*by control:attach/s,
    );
    const [grant] = recordsOf(await place.run(["grants", "--json"]));
    expect(grant).toMatchObject({
      schema: "soong.grants/1",
      pid: run.child.pid,
      project: place.project,
      tool_name: "code.write_file",
      granted_by: "control:attach",
      covers: expect.stringContaining("files directly in") as string,
    });
    const id = grant?.["grant_id"] as string;
    expect(await place.run(["grants", "revoke", id])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`revoked ${id}`) as string,
    });
    const again = await place.run(["grants", "revoke", id]);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(again.stderr).toContain("`soong grants` lists");
    await place.openGate();

    const last = await attached.next("question");
    attached.say({ question_id: last["question_id"], decision: "deny", reason: "not today" });
    const end = await run.ended;
    expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining("Done.") as string });
    expect(end.stderr).toMatch(/said no to code\.write_file: not today/);
    await attached.next("ended");
    expect(await attached.exitCode).toBe(0);
    const types = attached.facts.map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining(["grant.created", "grant.revoked", "permission.resolved"]),
    );
    expect(types.at(-1)).toBe("run.completed");
    expect(existsSync(join(place.project, "c.txt"))).toBe(false);
    expect(readdirSync(join(place.home, "control"))).toEqual([]);
  });

  it("leaves a socket when it is killed, which the next who looks clears away", async () => {
    verifies("CLI-8");
    const place = await waiting(WRITES);
    const run = place.start(RUN);
    const folder = join(place.home, "control");
    await vi.waitFor(() => expect(socketsIn(folder)).toHaveLength(1), WAIT);
    const [name] = socketsIn(folder);
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    expect(lstatSync(join(folder, name!)).mode & 0o777).toBe(0o600);
    run.child.kill("SIGKILL");
    await run.ended;
    expect(socketsIn(folder)).toEqual([name]);
    const grants = await place.run(["grants"]);
    expect(grants).toMatchObject({ code: 0, stdout: "" });
    expect(grants.stderr).toContain("No session is live");
    expect(socketsIn(folder)).toEqual([]);
    const attached = await place.run(["attach"]);
    expect(attached).toMatchObject({ code: 1, stdout: "" });
    expect(attached.stderr).toContain("No session is live");
  });

  it("is ended from outside, with the reason on record", async () => {
    verifies("CLI-8", "CLI-2");
    const place = await waiting(WRITES);
    const run = place.start([...RUN, "--json"]);
    await vi.waitFor(async () => expect(await runsOf(place)).toHaveLength(1), WAIT);
    const { live } = await listLiveRuntimes(place.home);
    const client = await connectControl(live[0]!.path);
    const { run_ids } = await client.request("run.abort", { reason: "that is enough" });
    const end = await run.ended;
    client.close();
    expect(end.code).toBe(130);
    // A call that was about to begin may still say, late, what became of it.
    const aborted = recordsOf(end).find(({ type }) => type === "run.aborted");
    expect(aborted).toMatchObject({ run_id: run_ids[0] });
    expect(JSON.stringify(aborted)).toContain("that is enough");
  });

  it("continues without a socket where there can be none, and says so once", async () => {
    verifies("CLI-8");
    const place = await bundle.place();
    await mkdir(place.home, { mode: 0o700 });
    symlinkSync(place.project, join(place.home, "control"));
    await place.write("a.txt", "hello\n");
    const call = await place.run(["call", "code.read_file", '{"path": "a.txt"}']);
    expect(call).toMatchObject({ code: 0, stdout: expect.stringContaining("hello") as string });
    expect(call.stderr.match(/cannot be reached from another terminal/g)).toHaveLength(1);
    expect(readdirSync(place.project)).toEqual(["a.txt"]);
    const grants = await place.run(["grants"]);
    expect(grants.code).toBe(1);
    expect(grants.stderr).toMatch(/control is not a directory; move it away/);
  });

  it("asks no one where no one attends, and tells the model what would have helped", async () => {
    verifies("CLI-8", "PERM-4");
    const place = await bundle.place();
    await place.write(
      "s.yaml",
      `
turns:
  - calls: [ { tool: code.write_file, input: { path: a.txt, content: one } } ]
  - expect: [ { result: 0, contains: no one is there to ask }, { result: 0, contains: --allow code.write_file } ]
    text: So be it.
`,
    );
    const run = await place.run(["run", "--model", "script:s.yaml", "go"]);
    expect(run).toMatchObject({ code: 0, stdout: "So be it.\n" });
  });
});

describe.skipIf(!canMakeTerminals())("a second terminal (needs python3)", () => {
  it("shows what the run does, asks with the preview, and leaves the run alone at Ctrl-C", async () => {
    verifies("CLI-8", "PERM-6");
    const place = await waiting(WRITES);
    const run = place.start([...RUN, "--json"]);
    await vi.waitFor(() => expect(socketsIn(join(place.home, "control"))).toHaveLength(1), WAIT);
    const attachedAt = (exchanges: Parameters<typeof atTerminal>[1]) =>
      atTerminal([process.execPath, bundle.program, "attach"], exchanges, {
        cwd: place.project,
        env: environment(place.home, { TERM: "xterm", NO_COLOR: "1" }),
      });
    const left = await attachedAt([{ after: "First I wait.", type: "\u0003" }]);
    expect(left.code).toBe(0);
    expect(left.screen).toContain("Left; the session continues.");
    expect(run.child.exitCode).toBeNull();

    const watching = attachedAt([
      { after: "First I wait.", type: "" },
      { after: "[n]o: ", type: "y\n" },
      { after: "[n]o: ", type: "s\n" },
    ]);
    await vi.waitFor(async () => expect(await attendantsOf(place)).toBe(1), WAIT);
    await place.openGate();
    await vi.waitFor(() => expect(existsSync(join(place.project, "b.txt"))).toBe(true), WAIT);
    await place.openGate();
    const [seen, end] = await Promise.all([watching, run.ended]);
    expect([seen.code, end.code]).toEqual([0, 0]);
    expect(seen.screen).toContain("+one");
    expect(seen.screen).toContain('"For this session"');
    expect(seen.screen).toMatch(
      /Then I write\..*And once more\..*Done\..*The session has ended\./s,
    );
    expect(existsSync(join(place.project, "c.txt"))).toBe(true);
    const answers = recordsOf(end).filter(({ type }) => type === "permission.resolved");
    expect(answers.map(({ data }) => data)).toMatchObject([
      { answered_by: "control:terminal" },
      { answered_by: "control:terminal" },
    ]);
  });
});

const WAIT = { timeout: 20_000, interval: 20 };

interface WaitingPlace extends Place {
  /** Lets the run continue that waits at its gate. */
  openGate(): Promise<void>;
}

/** A run in here waits where it reads the gate, for as long as it takes. */
async function waiting(script: string): Promise<WaitingPlace> {
  const place = await bundle.place();
  await place.write("s.yaml", script);
  const gate = join(place.project, "gate");
  await once(spawn("mkfifo", [gate]), "close");
  return { ...place, openGate: () => writeFile(gate, "open") };
}

type Record_ = Record<string, unknown>;

interface AttachedProgram {
  readonly child: ChildProcess;
  readonly exitCode: Promise<number | null>;
  /** Those that came so far. */
  readonly facts: readonly { readonly type: string }[];
  /** The next record of an event; facts are collected. */
  next(event: string): Promise<Record_>;
  say(answer: object | string): void;
}

/** Once there is something to attach to. */
async function attach(place: Place): Promise<AttachedProgram> {
  await vi.waitFor(() => expect(socketsIn(join(place.home, "control"))).toHaveLength(1), WAIT);
  const child = spawn(process.execPath, [bundle.program, "attach", "--json"], {
    cwd: place.project,
    env: environment(place.home),
    stdio: ["pipe", "pipe", "inherit"],
  });
  // It may have ended when it is written to.
  child.stdin.on("error", () => {});
  onTestFinished(() => void child.kill("SIGKILL"));
  const exitCode = once(child, "close").then(([code]) => code as number | null);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const facts: { type: string }[] = [];
  const kept: Record_[] = [];
  return {
    child,
    exitCode,
    facts,
    async next(event) {
      for (;;) {
        const at = kept.findIndex((record) => record["event"] === event);
        const [found] = at === -1 ? [] : kept.splice(at, 1);
        if (found !== undefined) return found;
        const line = await lines.next();
        if (line.done === true) throw new Error(`it ended before it said "${event}"`);
        const record = JSON.parse(line.value) as Record_;
        if (record["event"] === "fact") facts.push(record["fact"] as { type: string });
        else kept.push(record);
      }
    },
    say(answer) {
      child.stdin.write(`${typeof answer === "string" ? answer : JSON.stringify(answer)}\n`);
    },
  };
}

async function runsOf({ home }: Place): Promise<readonly object[]> {
  const { live } = await listLiveRuntimes(home);
  return live[0]?.hello.runs ?? [];
}

async function attendantsOf({ home }: Place): Promise<number | undefined> {
  const { live } = await listLiveRuntimes(home);
  return live[0]?.hello.attendants;
}

function socketsIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".sock")) : [];
}
