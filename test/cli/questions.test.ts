// Questions that outlive the runtime that asked them, answered once, from wherever (PERM-20).

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  bundleCli,
  environment,
  recordsOf,
  type CliBundle,
  type Place,
  type Started,
} from "./cli-bundle.ts";
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
  - calls: [ { tool: code.write_file, input: { path: a.txt, content: "new", overwrite: true } } ]
  - text: Done.
`;

const AGAIN = `
turns:
  - expect: [ { result: 0, contains: "was not started" } ]
    calls: [ { tool: code.write_file, input: { path: a.txt, content: "new", overwrite: true } } ]
  - text: Continued.
`;

type Line = Record<string, unknown>;

interface Asked extends Omit<Place, "run"> {
  readonly command: Place["run"];
  readonly run: Started;
  readonly attached: { readonly child: ChildProcess; readonly lines: readonly Line[] };
  readonly session_id: string;
  readonly question_id: string;
}

/** A live run that waits for an answer; a program is attached to it, and says nothing. */
async function asked(): Promise<Asked> {
  const place = await bundle.place();
  await place.write("s.yaml", WRITES);
  await place.write("a.txt", "old");
  const gate = spawn("mkfifo", [join(place.project, "gate")]);
  await once(gate, "close");
  const run = place.start(["run", "--model", "script:s.yaml", "--allow", "code.run_command", "go"]);
  const sockets = join(place.home, "control");
  await vi.waitFor(
    () => expect(existsSync(sockets) && readdirSync(sockets)[0]).toMatch(/\.sock$/),
    WAIT,
  );
  const child = spawn(process.execPath, [bundle.program, "attach", "--json"], {
    cwd: place.project,
    env: environment(place.home),
    stdio: ["pipe", "pipe", "inherit"],
  });
  // It may have ended when it is written to.
  child.stdin.on("error", () => {});
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on("line", (line) =>
    lines.push(JSON.parse(line) as Line),
  );
  await vi.waitFor(() => expect(lines.map(eventOf)).toContain("attached"), WAIT);
  await place.write("gate", "open");
  await vi.waitFor(() => expect(lines.map(eventOf)).toContain("question"), WAIT);
  const [question] = recordsOf(await place.run(["questions", "--json"]));
  return {
    ...place,
    command: (...given) => place.run(...given),
    run,
    attached: { child, lines },
    session_id: String(question?.["session_id"]),
    question_id: String(question?.["question_id"]),
  };
}

function eventOf({ event }: Line): unknown {
  return event;
}

async function killed(): Promise<Asked> {
  const place = await asked();
  place.run.child.kill("SIGKILL");
  await place.run.ended;
  await place.write("s.yaml", AGAIN);
  return place;
}

function resume(place: Asked) {
  return place.command(["resume", place.session_id, "--model", "script:s.yaml", "--json"]);
}

describe("an open question", () => {
  it.skipIf(!canMakeTerminals())(
    "survives its runtime: it is listed, answered once at a terminal, and the answer is used (needs python3)",
    async () => {
      verifies("PERM-20", "PERM-8");
      const place = await killed();
      const { question_id, session_id } = place;
      const listed = await place.command(["questions"]);
      expect(listed.stdout).toContain(question_id);
      expect(listed.stdout).toMatch(/ {2}Overwrite a\.txt.*\n.*\n +asked just now in \S+, \/\S+$/m);
      expect(listed.stdout).toContain(session_id);

      // A command that a model runs has no terminal: it cannot say yes.
      const noTerminal = await place.command(["questions", "answer", question_id, "allow"]);
      expect(noTerminal).toMatchObject({ code: 2 });
      expect(noTerminal.stderr).toContain("needs a terminal");
      const answered = await atTerminal(
        [process.execPath, bundle.program, "questions", "answer", question_id.slice(0, 12)],
        [{ after: "[n]o: ", type: "y\n" }],
        { cwd: place.project, env: environment(place.home) },
      );
      expect(answered.code, answered.screen).toBe(0);
      expect(answered.screen).toContain("+new");
      expect(answered.screen).toContain("unless what the call would do has changed");
      const second = await place.command(["questions", "answer", question_id, "deny"]);
      expect(second).toMatchObject({ code: 1 });
      expect(second.stderr).toContain("answered already, by control:terminal (allow_once)");

      const continued = await resume(place);
      expect(continued.code, continued.stderr).toBe(0);
      expect(await place.read("a.txt")).toBe("new");
      const facts = recordsOf(continued) as { type: string; data: Line }[];
      const dataOf = (wanted: string): Line[] =>
        facts.filter(({ type }) => type === wanted).map(({ data }) => data);
      // The same question, under the same id; no one was asked again.
      expect(dataOf("permission.requested")).toMatchObject([
        { request: { request_id: question_id } },
      ]);
      expect(dataOf("permission.resolved")).toMatchObject([
        { request_id: question_id, decision: "allow_once", answered_by: "control:terminal" },
      ]);
      expect((await place.command(["questions"])).stderr).toContain("No question is open");
      expect((await place.command(["verify", "--all"])).code).toBe(0);
    },
  );

  it.skipIf(!canMakeTerminals())(
    "is not answered by a yes to another plan (needs python3)",
    async () => {
      verifies("PERM-20", "PERM-8");
      const place = await killed();
      const answered = await atTerminal(
        [process.execPath, bundle.program, "questions", "answer", place.question_id, "allow"],
        [],
        { cwd: place.project, env: environment(place.home) },
      );
      expect(answered.code, answered.screen).toBe(0);
      await place.write("a.txt", "changed meanwhile");
      const continued = await resume(place);
      expect(continued.stdout).toContain("permission_unanswered");
      expect(await place.read("a.txt")).toBe("changed meanwhile");
      expect((await place.command(["questions"])).stderr).toContain("No question is open");
    },
  );

  it("of a live run is answered from another process, and a later one learns by whom", async () => {
    verifies("PERM-20");
    const place = await asked();
    const { question_id, attached } = place;
    const deny = ["questions", "answer", question_id, "deny", "--reason", "not today"];
    expect(await place.command(deny)).toMatchObject({ code: 0 });
    const late = await place.command(["questions", "answer", question_id, "deny"]);
    expect(late.code).toBe(1);
    attached.child.stdin?.write(`${JSON.stringify({ question_id, decision: "allow_once" })}\n`);
    const ended = await place.run.ended;
    expect(ended.stderr).toContain("not today");
    expect(await place.read("a.txt")).toBe("old");
    await vi.waitFor(() => expect(JSON.stringify(attached.lines)).toMatch(/answered/), WAIT);
    expect((await place.command(["questions"])).stderr).toContain("No question is open");
  });

  it("is answered with always by a program, and the rule that was shown is kept, no other", async () => {
    verifies("PERM-18");
    const place = await asked();
    const { question_id, attached } = place;
    const rule = { tool: "*", decision: "allow" };
    const answer = { decision: "allow_for_session", always: { where: "everywhere", rule } };
    attached.child.stdin?.write(`${JSON.stringify({ question_id, ...answer })}\n`);
    const ended = await place.run.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const config = await place.read(join(place.home, "config.toml"));
    expect(config).toContain('tool = "code.write_file"');
    expect(config).toContain(`path = ${JSON.stringify(`${place.project}/*`)}`);
    expect(config).not.toContain('"*"');
    expect((await place.command(["doctor"])).stdout).not.toContain("config.toml:");
  });

  it.skipIf(!canMakeTerminals())(
    "of a run at a terminal is answered with always (needs python3)",
    async () => {
      verifies("PERM-18");
      const place = await bundle.place();
      await place.write(
        "s.yaml",
        `turns: [ { calls: [ { tool: code.write_file, input: { path: a.txt, content: a } } ] }, { text: Done. } ]`,
      );
      await place.write(join(place.home, "config.toml"), "# mine\n[model]\nretries = 1\n");
      const ran = await atTerminal(
        [process.execPath, bundle.program, "run", "--model", "script:s.yaml", "go"],
        [
          { after: "al[w]ays / [n]o: ", type: "w\n" },
          { after: "[b]ack: ", type: "p\n" },
        ],
        { cwd: place.project, env: environment(place.home) },
      );
      expect(ran.code, ran.screen).toBe(0);
      expect(ran.screen).toContain("[[permissions.rules]]");
      const config = await place.read(join(place.home, "config.toml"));
      expect(config.startsWith("# mine\n[model]\nretries = 1\n\n[[permissions.rules]]\n")).toBe(
        true,
      );
      expect(config).toContain(`project = ${JSON.stringify(place.project)}`);
      expect(existsSync(join(place.project, ".soong"))).toBe(false);
    },
  );
});
