// The conversation as the user has it: the real program at a real terminal, looked at on its screen.

import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, environment, type CliBundle, type Place } from "./cli-bundle.ts";
import { canUseTmux, openTmux, type Tmux } from "./tmux.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_U = "\u0015";

const SHELL = '"$@"; echo "ended with $?"; read _';

async function exitCode(screen: Tmux): Promise<number> {
  const shown = await screen.waitFor(/ended with \d+$/);
  return Number(/ended with (\d+)$/.exec(shown)?.[1]);
}

/** Without a sandbox: whether there is one, and what it masks, differs from machine to machine. */
async function placeWith(script: string): Promise<Place> {
  const place = await bundle.place();
  await place.write(join(place.home, "config.toml"), 'sandbox = "off"\n');
  await place.write("s.yaml", script);
  await place.write("a.txt", "hello\n");
  return place;
}

function sit(
  { home, project }: Place,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Tmux> {
  return openTmux({
    columns: 80,
    rows: 40,
    // A shell stays when the program has gone: what it leaves behind can be seen, too.
    argv: ["sh", "-c", SHELL, "sh", process.execPath, bundle.program, ...args],
    cwd: project,
    env: environment(home, env),
  });
}

async function factsOf(place: Place): Promise<string[]> {
  const verified = await place.run(["verify", "--all"]);
  expect(verified.code, verified.stderr).toBe(0);
  const { stdout } = await place.run(["sessions", "--json"]);
  const [session] = stdout.split("\n").filter((line) => line !== "");
  const { session_id } = JSON.parse(session ?? "{}") as { session_id: string };
  return [session_id];
}

describe.skipIf(!canUseTmux())("a conversation at a terminal (needs tmux)", () => {
  it("streams, asks, changes, attaches, completes, remembers, and is resumed", async () => {
    verifies("CLI-1", "CLI-7", "CLI-4");
    const place = await placeWith(`
turns:
  - parts: [ { text: "It says " }, { text: "something.\\n" }, { call: { tool: code.read_file, input: { path: a.txt } } } ]
  - calls: [ { tool: code.write_file, input: { path: a.txt, content: "bye\\n", overwrite: true } } ]
  - calls: [ { tool: code.write_file, input: { path: b.txt, content: "b\\n" } } ]
  - calls: [ { tool: code.write_file, input: { path: sub/c.txt, content: "c\\n" } } ]
  - expect: [ { result: 0, contains: "not there" } ]
    text: That is all.
  - expect: [ { last_user: { contains: "two\\nlines" } }, { last_user: { contains: "see @a.txt" } } ]
    text: Two lines, then.
`);
    const screen = await sit(place, ["--model", "script:s.yaml"]);
    await screen.waitFor(/soong script:s\.yaml · .*project/s);
    await screen.waitFor("›");
    await screen.type("what does it say?\r");
    await screen.waitFor("It says something.");
    await screen.waitFor("✓ code.read_file Read line 1 of a.txt");
    // What would happen, in colours, what a yes covers; a key that is no answer is none.
    const asked = await screen.waitFor("[n]o:");
    expect(asked).toMatch(/^Overwrite a\.txt \(\+1 −1\) \(destructive\)$/m);
    expect(asked).toMatch(/^-hello$/m);
    expect(asked).toMatch(/^\+bye$/m);
    expect(asked).toMatch(/Asked because: [^]*"For this session"/);
    await screen.type("x");
    await screen.type("y");
    await screen.waitFor(/b\.txt[^]*\[n\]o:$/);
    await screen.type("s");
    await screen.waitFor(/sub\/c\.txt[^]*\[n\]o:$/);
    await screen.type("n");
    await screen.waitFor("Why not?");
    await screen.type("not there\r");
    await screen.waitFor(/✗ code\.write_file sub\/c\.txt rejected: [^]*not\sthere/);
    await screen.waitFor(/That is all\.\n5 requests.*\n.* · normal\n›$/);
    expect(await place.read("a.txt")).toBe("bye\n");
    expect(await place.read("b.txt")).toBe("b\n");
    for (const line of (await screen.screen()).split("\n")) expect(line.length).toBeLessThan(81);

    // Several lines, a file by Tab, and nothing is sent that cannot be.
    await screen.type("see @nowhere.txt\r");
    await screen.waitFor("Nothing was sent.");
    await screen.waitFor(/› see @nowhere\.txt$/);
    await screen.type(CTRL_C);
    await screen.waitFor(/›$/);
    await screen.type("see @a.t\t");
    await screen.waitFor(/› see @a\.txt ?$/);
    await screen.press("M-Enter");
    await screen.type("two\\\rlines\r");
    await screen.waitFor("Two lines, then.");
    await screen.waitFor(/1 request,.*\n.* · normal\n›$/);
    await screen.type("/mod");
    await screen.type("e nothing\r");
    await screen.waitFor("There is no mode nothing");
    await screen.press("Up", "Up");
    await screen.waitFor(/› see @a\.txt.*\n.*two\n.*lines$/);
    await screen.type(CTRL_C);
    await screen.type(CTRL_C);
    await screen.waitFor("Ctrl-C once more to quit");
    await screen.type(CTRL_C);
    expect(await exitCode(screen)).toBe(0);
    const shown = await screen.waitFor("continues this conversation");
    const [, session_id = ""] = /`soong resume (\S+)`/.exec(shown) ?? [];

    await place.write("s.yaml", "turns: [ { text: Here again. } ]");
    const again = await sit(place, ["resume", session_id, "--model", "script:s.yaml"], {
      NO_COLOR: "1",
    });
    await again.waitFor("Two lines, then.");
    await again.type("more\r");
    await again.waitFor("Here again.");
    await again.waitFor(/1 request,.*\n.* · normal\n›$/);
    await again.type(CTRL_D);
    expect(await exitCode(again)).toBe(0);
    expect(await factsOf(place)).toEqual([session_id]);
  });

  it("shows what would run: hidden characters, the program that was found, and all of it on demand", async () => {
    verifies("PERM-19");
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index + 1}\\n`).join("");
    const place = await placeWith(`
turns:
  - calls: [ { tool: code.run_command, input: { argv: ["./x.sh", "a\\U000E0041\\u00ADb", "\\u2800", "c\\u202Ed"] } } ]
  - calls: [ { tool: code.write_file, input: { path: long.txt, content: "${lines}" } } ]
  - text: Done.
`);
    await place.write("x.sh", "#!/bin/sh\n");
    await chmod(join(place.project, "x.sh"), 0o755);
    const screen = await sit(place, ["--model", "script:s.yaml"]);
    await screen.waitFor("›");
    await screen.type("go\r");
    const asked = await screen.waitFor("[n]o:");
    expect(asked).toContain(String.raw`./x.sh 'a\u{E0041}\u00adb' '\u2800' 'c\u202ed'`);
    expect(asked.replaceAll("\n", "")).toMatch(/runs \S+\/project\/x\.sh/);
    await screen.type("n");
    await screen.waitFor("Why not?");
    await screen.type("\r");
    const cut = await screen.waitFor(/show \[a\]ll: $|show \[a\]ll:$/);
    expect(cut).toMatch(/… \d+ more lines/);
    expect(cut).not.toContain("+line 60");
    await screen.type("a");
    const whole = await screen.waitFor(/\+line 60[^]*\[n\]o:$/);
    expect(whole).not.toContain("more lines\nAsked because");
    await screen.type("n");
    await screen.waitFor("Why not?");
    await screen.type("\r");
    await screen.waitFor("Done.");
    await screen.type(CTRL_D);
    expect(await exitCode(screen)).toBe(0);
  });

  it("keeps a rule for always: shown, changed, in the user's own config, for this project or every one", async () => {
    verifies("PERM-18");
    const place = await placeWith(`
turns:
  - calls: [ { tool: code.write_file, input: { path: b.txt, content: "b\\n" } } ]
  - calls: [ { tool: code.run_command, input: { argv: [rm, b.txt] } } ]
  - text: Done.
`);
    const screen = await sit(place, ["--model", "script:s.yaml"]);
    await screen.waitFor("›");
    await screen.type("go\r");
    await screen.waitFor(/al\[w\]ays \/ \[n\]o:$/);
    await screen.type("w");
    const shown = await screen.waitFor(/\[b\]ack:$/);
    expect(shown).toMatch(/tool = "code\.write_file"/);
    expect(shown.replaceAll("\n", "")).toMatch(/path = "\S+\/project\/\*"/);
    await screen.type("b");
    await screen.waitFor(/al\[w\]ays \/ \[n\]o:$/);
    await screen.type("w");
    await screen.waitFor(/\[b\]ack:$/);
    await screen.type("p");
    await screen.waitFor("The rule was added to");
    await screen.waitFor(/Run `rm b\.txt`[^]*al\[w\]ays \/ \[n\]o:$/);
    await screen.type("w");
    expect(await screen.waitFor(/\[b\]ack:$/)).toContain('argv = ["rm", "b.txt"]');
    await screen.type("c");
    await screen.waitFor(/Rule: \{ tool = "code\.run_command"/);
    await screen.type(CTRL_U);
    await screen.type(
      '{ tool = "code.run_command", argv = ["rm", "*.txt"], decision = "allow" }\r',
    );
    await screen.waitFor(/That is not a rule:[^]*\[b\]ack:$/);
    await screen.type("c");
    await screen.waitFor(/That is not a rule:[^]*Rule: \{/);
    await screen.type(CTRL_U);
    await screen.type('{ tool = "code.run_command", argv = ["rm", "*"], decision = "allow" }\r');
    await screen.waitFor(/argv = \["rm", "\*"\][^]*\[b\]ack:$/);
    await screen.type("e");
    await screen.waitFor("Done.");
    await screen.type(CTRL_D);
    expect(await exitCode(screen)).toBe(0);
    const config = await place.read(join(place.home, "config.toml"));
    expect(config.match(/\[\[permissions\.rules\]\]/g)).toHaveLength(2);
    expect(config).toContain(`project = ${JSON.stringify(place.project)}`);

    // From now on no one is asked about either.
    const run = await place.run(["run", "--model", "script:s.yaml", "go"]);
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).not.toContain("denied");
    const explained = await place.run([
      "explain",
      "code.write_file",
      '{"path":"z.txt","content":""}',
    ]);
    expect(explained.stdout).toContain("config.toml:");
    await place.write("elsewhere/s.yaml", await place.read("s.yaml"));
    const other = { cwd: join(place.project, "elsewhere") };
    const there = await place.run(["run", "--model", "script:s.yaml", "go"], other);
    expect(there.stderr).toContain("code.write_file denied");
  });

  it("is stopped by Ctrl-C while the model streams, a call runs and a question is open; twice, it ends", async () => {
    verifies("CLI-1");
    const place = await placeWith(`
turns:
  - parts: [ { text: "Once upon" }, { text: " a time", after_ms: 600000 } ]
  - calls: [ { tool: code.run_command, input: { argv: [sh, -c, "echo step one; sleep 600"] } } ]
  - calls: [ { tool: code.write_file, input: { path: b.txt, content: b } } ]
  - text: Still here.
  - calls: [ { tool: code.run_command, input: { argv: [sh, -c, "trap '' TERM INT; echo held; sleep 600"] } } ]
`);
    const screen = await sit(place, ["--model", "script:s.yaml", "--allow", "code.run_command"]);
    await screen.waitFor("›");
    await screen.type("a story\r");
    await screen.waitFor("Once upon");
    await screen.type(CTRL_C);
    await screen.waitFor(/Stopped\.[^]*\n›$/);
    await screen.type("run\r");
    // Live: the time continues on its own, with the last line of the output.
    await screen.waitFor(/… code\.run_command sh -c .* runs [1-9]\d* s\n {2}│ step one/);
    await screen.type("next");
    await screen.waitFor(/› next$/);
    await screen.type(CTRL_C);
    await screen.waitFor(/✗ code\.run_command .*aborted[^]*Stopped\.[^]*\n› next$/);
    await screen.type(" thing\r");
    await screen.waitFor(/b\.txt[^]*\[n\]o:$/);
    await screen.type(CTRL_C);
    await screen.waitFor(/Stopped\.[^]*b\.txt[^]*Stopped\.|b\.txt[^]*Stopped\.[^]*\n›$/);
    await screen.type("there?\r");
    await screen.waitFor(/Still here\.[^]*\n›$/);
    await screen.type("once more\r");
    // The command ignores the first signal from here on.
    await screen.waitFor(/trap .* runs[^]*│ held/);
    await screen.type(CTRL_C);
    await screen.waitFor("leaves at once");
    await screen.type(CTRL_C);
    expect(await exitCode(screen)).toBe(130);
    await expect(place.read("b.txt")).rejects.toThrow("ENOENT");
    await factsOf(place);
  });

  it("works at a terminal that only prints, without colours, and ends in order at a signal", async () => {
    verifies("CLI-1", "CLI-6");
    const place = await placeWith(`
turns:
  - calls: [ { tool: code.write_file, input: { path: b.txt, content: b } } ]
  - text: Written.
  - calls: [ { tool: code.run_command, input: { argv: [sh, -c, "kill -TERM $PPID; sleep 600"] } } ]
`);
    const screen = await sit(place, ["--model", "script:s.yaml", "--allow", "code.run_command"], {
      TERM: "dumb",
    });
    await screen.waitFor("›");
    await screen.type("write\r");
    await screen.waitFor("[n]o:");
    await screen.type("y\r");
    await screen.waitFor("Written.");
    await screen.waitFor("2 requests");
    await screen.type("end\r");
    expect(await exitCode(screen)).toBe(143);
    expect(await place.read("b.txt")).toBe("b");
    await factsOf(place);
  });

  it("says what to do where there is no model", async () => {
    verifies("CLI-1");
    const screen = await sit(await bundle.place(), []);
    const shown = await screen.waitFor("soong demo");
    expect(shown).toMatch(/no model[^]*ANTHROPIC_API_KEY/);
    expect(await exitCode(screen)).toBe(2);
  });
});

it("needs a terminal, and says what works without one", async () => {
  verifies("CLI-1", "CLI-6");
  const place = await bundle.place();
  for (const stdin of [undefined, "", "Explain this\n"]) {
    const ended = await place.run([], stdin === undefined ? {} : { stdin });
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toMatch(/needs a terminal.*soong run/);
  }
  const misplaced = await place.run(["--model", "script:x", "sessions"]);
  expect(misplaced).toMatchObject({ code: 2, stdout: "" });
  expect(misplaced.stderr).toMatch(/--model belongs behind the command/);
  await expect(place.read(join(place.home, "prompts.jsonl"))).rejects.toThrow("ENOENT");
});
