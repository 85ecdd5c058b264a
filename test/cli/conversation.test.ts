// A conversation, in the order the user has it: real runtime, store and tools; the model is a script.

import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setImmediate as soon } from "node:timers/promises";
import { loadScript, scriptedModel } from "@soong/agent";
import { systemClock, type Fact, type Mode, type ToolResult } from "@soong/core";
import { verifies } from "#laws";
import { expect, it, onTestFinished } from "vitest";
import { createSharedCommands } from "../../packages/cli/src/command/run/conversation-commands.ts";
import { loadConfig } from "../../packages/cli/src/config/index.ts";
import { createApprovalBroker } from "@soong/control";
import { attachFiles } from "../../packages/cli/src/conversation/attach-files.ts";
import { converse } from "../../packages/cli/src/conversation/converse.ts";
import { openingText, openTalk } from "../../packages/cli/src/conversation/talk.ts";
import { openPromptHistory } from "../../packages/cli/src/conversation/prompt-history.ts";
import { openRuntime } from "../../packages/cli/src/runtime/open-runtime.ts";
import { createPerson } from "./person.ts";

interface Options {
  readonly allow?: readonly string[];
  readonly mode?: Mode;
  /** The prompt of the command line. */
  readonly first?: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Of the home, by path. */
  readonly homeFiles?: Readonly<Record<string, string>>;
}

/** In a project of its own; `script` may be one that a later part of the test writes. */
async function begin(script: string, options: Options = {}) {
  const around = await realpath(await mkdtemp(join(tmpdir(), "soong-talk-")));
  onTestFinished(() => rm(around, { recursive: true, force: true }));
  const project = join(around, "project");
  const home = join(around, "home");
  await mkdir(project);
  const write = async (path: string, content: string) => {
    await writeFile(join(project, path), content);
  };
  await write("s.yaml", script);
  for (const [path, content] of Object.entries(options.files ?? {})) await write(path, content);
  for (const [path, content] of Object.entries(options.homeFiles ?? {})) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), content);
  }
  return { around, project, home, write, ...(await talkIn(project, home, options)) };
}

async function talkIn(project: string, home: string, options: Options & { resume?: string } = {}) {
  const { allow = [], mode, resume, first } = options;
  const config = await loadConfig({ home });
  const model = scriptedModel(await loadScript(join(project, "s.yaml")), { id: "script:s.yaml" });
  const broker = createApprovalBroker();
  const runtime = await openRuntime({
    env: {},
    cwd: project,
    config,
    flags: { allow, mode },
    broker,
  });
  onTestFinished(() => runtime.close());
  const person = createPerson();
  const { terminal } = person;
  const talk = await openTalk({
    runtime,
    config,
    env: {},
    models: [model],
    mode,
    resume,
  });
  const opening = await openingText(terminal, talk, project);
  const hurried: number[] = [];
  let terminate: (exitCode: number) => void = () => {};
  const ended = converse({
    terminal,
    clock: systemClock(),
    talk,
    broker,
    history: await openPromptHistory(home, []),
    project,
    own: createSharedCommands({ runtime, config, env: {}, terminal }),
    rows: () => 40,
    ...(first !== undefined && { first }),
    onTermination(listener) {
      terminate = listener;
      return () => {};
    },
    quitNow: (exitCode) => void hurried.push(exitCode),
    quitSoon() {},
  });
  /** The facts of the session, in order. */
  const facts = async (): Promise<Fact[]> => {
    const store = await runtime.store();
    const reader = await store.readSession(talk.session_id);
    return [...(await reader.facts({ limit: 10_000 }))];
  };
  const close = () => runtime.close();
  const signal = (code: number) => terminate(code);
  return { person, talk, opening, ended, hurried, facts, close, signal, broker };
}

it("streams an answer, shows calls and changes, and reports what was used", async () => {
  verifies("CLI-1", "CLI-7");
  const lines = Array.from({ length: 30 }, (_, i) => `n${i}\\n`).join("");
  const { person, ended, opening, project, talk, facts } = await begin(
    `
turns:
  - text: "Looking \\u001b[2Jat it."
    calls:
      - { tool: code.read_file, input: { path: a.txt } }
      - { tool: code.read_file, input: { path: missing.txt } }
  - calls: [ { tool: code.write_file, input: { path: b.txt, content: "${lines}" } } ]
  - text: Done.
`,
    { allow: ["code.*"], files: { "a.txt": "hello\n" } },
  );
  expect(opening).toMatch(/^soong script:s\.yaml · .*project.*mode normal.*session_.*\/help/s);
  await person.type("  ");
  await person.type("/undo");
  await person.until("No file was changed in this conversation yet.");
  await person.type("look at a");
  await person.until("Looking \\u001b[2Jat it.\n");
  await person.until("✓ code.read_file Read line 1 of a.txt ");
  await person.until('✗ code.read_file failed: There is no file "missing.txt"');
  await person.until("✓ code.write_file Wrote b.txt");
  await person.until("+n0\n");
  await person.until("more lines; /diff shows all.");
  await person.until("Done.\n3 requests");
  expect(person.shown()).not.toContain("+n29");
  expect(person.shown()).not.toContain("\u001b");
  await person.type("/diff");
  await person.until("+n29\n");
  await person.type("/undo");
  await person.until("-n29\n");
  const asked = await person.press("n");
  expect(asked.question).toMatch(/Remove .*b\.txt/);
  await person.until("Nothing was restored.");
  await person.type("/undo");
  await person.press("y");
  await person.until("Removed ");
  expect(existsSync(join(project, "b.txt"))).toBe(false);
  await person.type("/undo");
  await person.until("No change of a file by this session");
  await person.endLine();
  expect(await ended).toBe(0);
  const types = (await facts()).map(({ type }) => type);
  expect(types.filter((type) => type === "run.completed")).toHaveLength(1);
  expect(talk.isKept).toBe(true);
});

it("puts questions; each answer does what it says, and what is typed meanwhile stays", async () => {
  verifies("CLI-1", "CLI-7", "PERM-4", "PERM-5");
  const { person, ended, project, facts, broker } = await begin(`
turns:
  - calls: [ { tool: code.write_file, input: { path: once/a.txt, content: a } } ]
  - calls: [ { tool: code.write_file, input: { path: b.txt, content: b } } ]
  - calls: [ { tool: code.write_file, input: { path: c.txt, content: c } } ]
  - calls: [ { tool: code.write_file, input: { path: no/d.txt, content: d } } ]
  - expect: [ { result: 0, contains: not-on-a-Monday } ]
    calls: [ { tool: code.write_file, input: { path: away/e.txt, content: e } } ]
  - text: I see.
  - calls: [ { tool: code.write_file, input: { path: f.txt, content: f } } ]
  - text: Asked again.
`);
  person.draft("half a thought");
  await person.type("write");
  expect((await person.press("y")).question).toMatch(/\[y\]es.*\[s\]ession.*\[n\]o/);
  await person.until("✓ code.write_file Wrote once/a.txt");
  await person.press("s");
  await person.until("✓ code.write_file Wrote b.txt");
  // Without a question: it is in the same directory.
  await person.until("✓ code.write_file Wrote c.txt");
  await person.press("n");
  await person.type("not-on-a-Monday");
  await person.until("✗ code.write_file");
  await person.until("not-on-a-Monday");
  await person.until("away/e.txt");
  const [open] = broker.open();
  await broker.answer(open?.question_id ?? "", {
    decision: "allow_once",
    answered_by: "a second terminal",
  });
  await person.until("code.write_file: yes, answered by a second terminal.");
  await person.until("I see.");
  await person.until("6 requests");
  expect((await person.line()).initial).toBe("half a thought");
  // Who has just answered here need not be told.
  expect(person.shown()).not.toContain("answered by terminal");
  expect(existsSync(join(project, "no"))).toBe(false);
  expect(await readFile(join(project, "away/e.txt"), "utf8")).toBe("e");

  await person.type("/grants");
  await person.until("files directly in");
  const [, grant = ""] = /(grant_\S+) by terminal/.exec(person.shown()) ?? [];
  await person.type("/grants revoke nothing");
  await person.until("There is no grant nothing");
  await person.type(`/grants revoke ${grant}`);
  await person.until("Revoked: code.write_file");
  await person.type("/grants");
  await person.until("Nothing is allowed for this session");
  await person.type("once more");
  await person.press("y");
  await person.until("Asked again.");
  await person.until("2 requests");
  await person.type("/quit");
  expect(await ended).toBe(0);
  const resolved = (await facts()).filter((fact) => fact.type === "permission.resolved");
  expect(resolved.map(({ data }) => (data as { decision?: string }).decision)).toEqual([
    "allow_once",
    "allow_for_session",
    "deny",
    "allow_once",
    "allow_once",
  ]);
});

const FOREVER = "{ tool: code.run_command, input: { argv: [sleep, '600'] } }";

it("stops the turn at Ctrl-C, wherever it is, and continues with the next prompt", async () => {
  verifies("CLI-1");
  const { person, ended, facts, project } = await begin(
    `
turns:
  - parts: [ { text: "Once upon " }, { text: "a time.", after_ms: 600000 } ]
  - calls: [ ${FOREVER} ]
  - calls: [ { tool: code.write_file, input: { path: a.txt, content: a } } ]
  - text: Still here.
`,
    { allow: ["code.run_command"] },
  );
  await person.type("tell a story");
  await person.untilLive("Once upon");
  await person.interruptLine("the next");
  await person.until("Stopped.");
  expect((await person.line()).initial).toBe("the next");

  await person.type("sleep");
  await until(() =>
    person.live().some((line) => line.startsWith("… code.run_command sleep 600 runs")),
  );
  await person.interruptLine();
  await person.until("✗ code.run_command sleep 600 aborted");
  await person.until("Stopped.");
  expect(person.live()).toEqual([]);

  await person.type("write");
  await person.interruptQuestion();
  await person.until("Stopped.");
  expect(existsSync(join(project, "a.txt"))).toBe(false);

  await person.type("there?");
  await person.until("Still here.");
  await person.until("1 request");

  await person.interruptLine("some text");
  await person.interruptLine();
  await person.until("Ctrl-C once more to quit");
  // Anything else between the two, and it was none of two.
  const before = person.shown().length;
  await person.type("/help");
  await person.until("Ctrl-D, exit");
  const help = person.shown().slice(before).split("\n");
  expect(help.filter((line) => line.length > 79)).toEqual([]);
  await person.interruptLine();
  await person.until("Ctrl-C once more to quit");
  await person.interruptLine();
  expect(await ended).toBe(0);
  const ends = (await facts()).filter(({ type }) => /^run\.(completed|aborted)$/.test(type));
  expect(ends.map(({ type }) => type)).toEqual([
    "run.aborted",
    "run.aborted",
    "run.aborted",
    "run.completed",
  ]);
});

it("leaves at once at a second Ctrl-C, and at a signal after everything is on record", async () => {
  verifies("CLI-1");
  const script = `turns: [ { calls: [ ${FOREVER} ] }, { calls: [ ${FOREVER} ] } ]`;
  const { person, ended, facts, hurried, signal } = await begin(script, {
    allow: ["code.run_command"],
  });
  await person.type("sleep");
  await until(() => person.live().some((line) => line.includes("runs")));
  await person.interruptLine();
  await person.until("Stopping");
  person.interrupt();
  expect(hurried).toEqual([130]);
  await person.until("Stopped.");
  await person.type("sleep again");
  await until(() => person.live().some((line) => line.includes("runs")));
  signal(143);
  expect(await ended).toBe(143);
  const ends = (await facts()).filter(({ type }) =>
    /^(run|tool)\.(completed|failed|aborted)$/.test(type),
  );
  expect(ends.map(({ type }) => type)).toEqual([
    "tool.failed",
    "run.aborted",
    "tool.failed",
    "run.aborted",
  ]);
});

it("gives what is typed meanwhile to the turn, and back what comes too late", async () => {
  verifies("CLI-1", "PIPE-7");
  const { person, ended, write } = await begin(
    `
turns:
  - calls: [ { tool: code.run_command, input: { argv: [sh, -c, "until [ -e go ]; do sleep 0.05; done"] } } ]
  - expect: [ { last_user: { contains: "leave it" } } ]
    text: Left it.
  - parts: [ { text: "Now " }, { text: "then", after_ms: 600000 } ]
`,
    { allow: ["code.run_command"], files: { "a.txt": "hello there\n" } },
  );
  await person.type("work");
  await until(() => person.live().some((line) => line.includes("runs")));
  await person.type("/undo");
  await person.until("/undo has to wait");
  expect((await person.line()).initial).toBe("/undo");
  await person.type("/mode");
  await person.until("The mode is normal");
  await person.type("leave it, see @a.txt");
  await person.until("Queued for the next request: leave it");
  await write("go", "");
  await person.until("Left it.");
  await person.until("2 requests");
  await person.type("again");
  await person.untilLive("Now");
  await person.type("too late");
  await person.until("Queued");
  await person.interruptLine("half");
  await person.until("What was queued is in the line again.");
  await until(async () => (await person.line()).initial === "too late\nhalf");
  await person.endLine();
  expect(await ended).toBe(0);
});

it("attaches files that are mentioned, or says before anything is sent why it cannot", async () => {
  verifies("CLI-7", "CTX-1");
  const { person, ended, write, project, around, facts } = await begin(
    `
turns:
  - expect: [ { last_user: { contains: "hello from a" } }, { last_user: { contains: "see @a.txt" } } ]
    text: Read both.
  - text: Nothing attached.
`,
    { files: { "a.txt": "hello from a\n", "two words.txt": "and b\n", ".env": "KEY=1\n" } },
  );
  await mkdir(join(project, "sub"));
  await write("long.txt", "x\n".repeat(2000));
  await write("wide.txt", "x".repeat(200_000));
  await writeFile(join(project, "raw.bin"), Buffer.from([0, 1, 2, 255, 0]));
  await writeFile(join(around, "outside.txt"), "out");
  await symlink(join(around, "outside.txt"), join(project, "link.txt"));
  const refused: [string, string][] = [
    ["see @a.txt and @missing.txt", "@missing.txt: There is no such file in the project"],
    ["@../outside.txt", "@../outside.txt is outside the project"],
    ["@link.txt", "@link.txt is outside the project"],
    ["@long.txt", "@long.txt is too long"],
    ["@wide.txt", "@wide.txt is too long"],
    ["@raw.bin", "@raw.bin cannot be attached"],
    ["@s.yaml @sub", "@sub: "],
  ];
  for (const [typed, sentence] of refused) {
    await person.type(typed);
    await person.until(sentence);
    await person.until("Nothing was sent.");
    expect((await person.line()).initial).toBe(typed);
  }
  // What is sensitive needs a yes, as from anyone.
  await person.type("@.env");
  await person.press("n");
  await person.type("");
  await person.until("said no");
  await person.until("Nothing was sent.");
  await person.type('see @a.txt and @"two words.txt"');
  await person.until("Read both.");
  await person.until("1 request");
  await person.type("mail a@b.c about @@types");
  await person.until("Nothing attached.");
  await person.until("1 request");
  await person.endLine();
  expect(await ended).toBe(0);
  const reads = (await facts()).filter((fact) => fact.type === "tool.completed");
  expect(reads.length).toBeGreaterThan(3);
  // What a request held of files is on record, also that a later one still holds it.
  const held = (await facts()).filter((fact) => fact.type === "context.resolved");
  const names = held.map(({ data }) => JSON.stringify(data.file_refs));
  expect(names[0]).toMatch(/a\.txt.*two%20words\.txt/);
  expect(JSON.stringify(await facts())).not.toContain("KEY=1");
});

it("changes model and mode, lists tools and sessions, begins anew, and knows a slip", async () => {
  verifies("CLI-7");
  const { person, ended, write, project, talk, home } = await begin(`
turns:
  - text: From the first.
  - calls: [ { tool: code.write_file, input: { path: a.txt, content: a } } ]
  - text: In plan mode.
`);
  await mkdir(join(project, "sub"));
  await write(".hidden", "");
  await write("t.yaml", "turns: [ { text: From the second. }, { text: Slash. } ]");
  await person.type("hi");
  await person.until("From the first.");
  await person.until("1 request");
  await person.type("/mdoel x");
  await person.until("There is no command /mdoel. Did you mean /model?");
  expect((await person.line()).initial).toBe("");
  await person.type("/mode nothing");
  await person.until("There is no mode nothing. The mode is normal");
  await person.type("/mode plan");
  await person.until("the mode is plan");
  await person.type("plan");
  await person.until("✗ code.write_file");
  await person.until("In plan mode.");
  await person.until("2 requests");
  await person.type("/tools");
  await person.until("code.read_file");
  await person.type("/tools find text in files");
  await person.until("code.search");
  await person.type("/tools xyzzyplugh");
  await person.until("No tool matches that");
  await person.type("/model");
  await person.until("script:s.yaml answers.");
  await person.type("/model nobody:x");
  await person.until("nobody");
  await person.type(`/model script:${join(project, "t.yaml")}`);
  await person.until("From the next prompt on script:");
  await person.type("who?");
  await person.until("From the second.");
  await person.until("1 request");
  const first = talk.session_id;
  await person.type("/new");
  await person.until("A new session");
  expect(talk.session_id).not.toBe(first);
  await person.type("//slash");
  await person.until("Slash.");
  await person.until("1 request");
  await person.type("/sessions");
  await person.until(talk.session_id.replace("session_", ""));
  await person.until("/slash");
  await person.until(first.replace("session_", ""));
  const line = await person.line();
  expect(await line.complete?.("/mo", "/mo")).toEqual(["/model ", "/mode "]);
  expect(await line.complete?.("/mo", "a /mo")).toEqual([]);
  expect(await line.complete?.("@s.", "see @s.")).toEqual(["@s.yaml "]);
  expect(await line.complete?.("@../", "@../")).toEqual([]);
  expect(await line.complete?.("@no/such/", "@no/such/")).toEqual([]);
  expect(await line.complete?.("@", "@")).toEqual(["@s.yaml ", "@sub/", "@t.yaml "]);
  expect(line.history?.slice(0, 2)).toEqual(["hi", "/mdoel x"]);
  await person.endLine();
  expect(await ended).toBe(0);
  expect(await readFile(join(home, "prompts.jsonl"), "utf8")).toContain('"//slash"\n');
});

it("continues a stored session with its conversation", async () => {
  verifies("CLI-1", "CLI-4");
  const one = await begin("turns: [ { text: My name is Ada. } ]", { files: { "a.txt": "x\n" } });
  await one.person.type("name? @a.txt");
  await one.person.until("Ada.");
  await one.person.until("1 request");
  await one.person.endLine();
  await one.ended;
  await one.close();
  await one.write("s.yaml", "turns: [ { text: Ada it is. } ]");
  const { person, opening, ended, talk, close } = await talkIn(one.project, one.home, {
    resume: one.talk.session_id,
  });
  expect(opening).toContain("› name? @a.txt\nMy name is Ada.");
  expect(talk.session_id).toBe(one.talk.session_id);
  expect((await person.line()).history).toEqual(["name? @a.txt"]);
  await person.type("again?");
  await person.until("Ada it is.");
  await person.until("1 request");
  await person.endLine();
  expect(await ended).toBe(0);
  await close();
  // Once more: all of it is one path, and what was read for a prompt is no second one.
  const third = await talkIn(one.project, one.home, { resume: talk.session_id });
  expect(third.opening).toContain("› name? @a.txt\nMy name is Ada.\n› again?\nAda it is.");
  await third.person.endLine();
  expect(await third.ended).toBe(0);
});

it("loses no prompt when the session cannot be opened", async () => {
  verifies("CLI-1");
  const { person, ended, home } = await begin("turns: [ { text: Hi. } ]");
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "store"), "in the way");
  await person.type("hello");
  await until(async () => (await person.line()).initial === "hello");
  expect(person.shown()).not.toContain("    at ");
  await person.endLine();
  expect(await ended).toBe(0);
});

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await soon();
}

it("takes what a command line begins with ! or # for a prompt: it runs and remembers nothing", async () => {
  verifies("CLI-7", "PERM-7");
  const { person, ended, project, facts } = await begin(
    'turns:\n  - expect: [ { last_user: { contains: "!touch made.txt" } } ]\n    text: I only read it.\n',
    { first: "!touch made.txt" },
  );
  await person.until("I only read it.");
  await person.until("1 request");
  await person.type("exit");
  expect(await ended).toBe(0);
  expect(existsSync(join(project, "made.txt"))).toBe(false);
  expect((await facts()).some(({ type }) => type === "tool.started")).toBe(false);
});

it("runs what is typed behind !: unasked, but under deny and every_time, and the model reads what came of it", async () => {
  verifies("CLI-7", "PERM-7");
  const rule = (program: string, rest: string) =>
    `[[permissions.rules]]\ntool = "code.run_command"\nargv = ["${program}", "**"]\n${rest}\n`;
  const { person, ended, facts, project } = await begin(
    `
turns:
  - expect: [ { last_user: { contains: "The user ran a command: echo a b" } }, { last_user: { contains: "well?" } }, { last_user: { not_contains: "denied" } } ]
    text: I read it.
  - expect: [ { last_user: { not_contains: "The user ran" } } ]
    text: Nothing new.
`,
    {
      homeFiles: {
        "config.toml":
          rule("false", 'decision = "deny"') + rule("true", 'decision = "ask"\nevery_time = true'),
      },
    },
  );
  await person.type("!echo a b");
  await person.until("a b\n");
  await person.type("!touch made.txt");
  await until(() => existsSync(join(project, "made.txt")));
  await person.until("wrote nothing");
  await person.type("!false");
  await person.until("denied");
  await person.type("!true");
  const { question } = await person.press("n");
  expect(question).toContain("[y]es");
  await person.type("");
  await person.type("!echo 'open");
  await person.until("A ' in this line has no end.");
  await person.type("well?");
  await person.until("I read it.");
  await person.until("1 request");
  await person.type("and now?");
  await person.until("Nothing new.");
  await person.until("1 request");
  await person.type("exit");
  expect(await ended).toBe(0);
  const answers = (await facts()).filter(({ type }) => type === "permission.resolved");
  expect(answers.map(({ data }) => data)).toMatchObject([
    { decision: "allow_once", answered_by: "terminal" },
    { decision: "deny", answered_by: "terminal" },
  ]);
});

it("goes back, sums up, switches to another session, and shows and exports what there is", async () => {
  verifies("CLI-7", "CTX-2");
  const { person, ended, project, talk } = await begin(
    `
turns:
  - text: "First answer."
  - text: "Second answer."
  - expect: [ { last_user: { contains: "second, better" } } ]
    text: "Third answer."
  - text: "A summary."
  - text: "In another."
`,
    { homeFiles: { "commands/hi.md": "Say hi to $ARGUMENTS.\n", "commands/help.md": "no\n" } },
  );
  await person.type("/context");
  await person.until("No request was made since");
  await person.type("/compact");
  await person.until("Nothing was said yet.");
  await person.type("/resume");
  await person.until("There is no other conversation");
  await person.type("/help");
  await person.until("(hidden by the command of this name)");
  await person.until("/hi");
  await person.type("first");
  await person.until("First answer.");
  await person.until("1 request");
  await person.type("second");
  await person.until("Second answer.");
  await person.until("1 request");
  await person.type("/rewind");
  const points = await person.choose("second");
  expect(points.items.map(({ label }) => label)).toEqual(["second", "first"]);
  await person.until("Rewound");
  await until(async () => (await person.line()).initial === "second");
  await person.type("second, better");
  await person.until("Third answer.");
  await person.until("1 request");
  await person.type("/context");
  await person.until("messages");
  await person.type("/permissions");
  await person.until("The policy of a run here");
  await person.type("/mcp");
  await person.until("There are no MCP servers");
  await person.type("/agents");
  await person.until("default_sub_agent");
  await person.type("/memory");
  await person.until("Nothing is remembered yet");
  await person.type("/export talk.md");
  await person.until("Written: talk.md");
  await person.type("/export talk.md");
  await person.until("exists already");
  const exported = await readFile(join(project, "talk.md"), "utf8");
  expect(exported).toContain("Third answer.");
  expect(exported).not.toContain("Second answer.");
  await person.type("/compact");
  await person.until("summed up");
  await person.until("1 request");
  const first = talk.session_id;
  await person.type("/clear");
  await person.until("A new session");
  await person.type("other");
  await person.until("In another.");
  await person.until("1 request");
  await person.type("/resume");
  const sessions = await person.choose("first");
  expect(sessions.items).toHaveLength(1);
  await person.until("summed up");
  expect(talk.session_id).toBe(first);
  expect(person.pinned().join()).toContain("script:s.yaml");
  await person.type("/cost");
  await person.until("4 requests");
  await person.type("/quit");
  expect(await ended).toBe(0);
});

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

it("attaches images, from outside the project too, and refuses what is none or too large before anything is sent", async () => {
  verifies("CLI-7", "CODE-1");
  const { person, ended, project, around, talk } = await begin(`
turns:
  - text: A pixel.
`);
  await writeFile(join(project, "a.png"), Buffer.from(PIXEL, "base64"));
  await writeFile(join(around, "b.png"), Buffer.from(PIXEL, "base64"));
  await writeFile(
    join(project, "huge.png"),
    Buffer.concat([Buffer.from(PIXEL, "base64"), Buffer.alloc(4_000_000)]),
  );
  await writeFile(join(project, "not.png"), "text\n");
  await writeFile(join(around, "secret.txt"), "a secret\n");
  await symlink(join(around, "secret.txt"), join(around, "link.png"));
  await person.type(`see @${join(around, "link.png")}`);
  await person.until("and no image");
  await person.type("see @huge.png");
  await person.until("@huge.png cannot be attached");
  await person.until("Nothing was sent.");
  await person.type(`what is @a.png beside @${join(around, "b.png")}?`);
  await person.until("A pixel.");
  await person.until("1 request");
  const [prompt] = await talk.readPath();
  const images = prompt?.content.filter(({ type }) => type === "image");
  expect(images).toEqual([
    { type: "image", media_type: "image/png", data: PIXEL },
    { type: "image", media_type: "image/png", data: PIXEL },
  ]);
  await person.endLine();
  expect(await ended).toBe(0);
  const text = { content: [{ type: "text", text: "a secret" }], is_error: false };
  const linked = await attachFiles([join(around, "link.png")], {
    project,
    model: "m",
    takesImages: true,
    readFile: async () => text as Partial<ToolResult> as ToolResult,
  });
  expect(linked).toMatchObject({
    ok: false,
    problems: [expect.stringContaining("it is outside the project and no image of at most")],
  });
  const readFileNever = () => Promise.reject(new Error("read"));
  const files = { project, model: "m", takesImages: false, readFile: readFileNever };
  const refused = await attachFiles(["a.png"], files);
  expect(refused).toMatchObject({
    ok: false,
    problems: [expect.stringContaining("m takes no images")],
  });
});
