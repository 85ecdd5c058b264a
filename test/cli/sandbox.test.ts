// The sandbox as users of the command meet it: `soong sandbox`, the doctor, explain, the warning where there is none, and
// commands that run without approval.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openSandbox } from "@soong/platform";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  bundleCli,
  environment,
  recordsOf,
  type CliBundle,
  type Ended,
  type Place,
} from "./cli-bundle.ts";
import { VISIBLE_PLACE } from "../sandbox/support.ts";

const sandbox = openSandbox();
const hasSandbox = "backend" in sandbox.state();
sandbox.close();
const HIDING = [
  "bwrap",
  "--bind",
  "/",
  "/",
  "--dev-bind",
  "/dev",
  "/dev",
  "--proc",
  "/proc",
].concat(["--ro-bind", "/dev/null", "/usr/bin/bwrap", "--"]);

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

async function configured(config: string): Promise<Place> {
  const place = await bundle.place();
  await place.write(join(place.home, "config.toml"), config);
  return place;
}

describe.skipIf(!hasSandbox)("soong sandbox (needs bubblewrap)", () => {
  it("gives commands another /tmp than hooks", async () => {
    verifies("CMD-6");
    // Places in /tmp would be mounts of one, and that is another one anyway.
    const cwd = await mkdtemp(join(VISIBLE_PLACE, "soong-test-"));
    onTestFinished(() => rm(cwd, { recursive: true }));
    const home = join(cwd, "home");
    const place = await bundle.place();
    const command = ["/bin/sh", "-c", "ls /tmp >&2; echo left > /tmp/of-hook"];
    const hooks = [{ id: "guard", event: "PreToolUse", command, sandbox: true }];
    await place.write(join(home, "hooks.json"), JSON.stringify({ hooks }));
    const input = JSON.stringify({ argv: ["sh", "-c", "ls /tmp; echo listed"] });
    const listed = await place.run(["call", "code.run_command", input, "--yes"], {
      cwd,
      env: { SOONG_AGENT_HOME: home },
    });
    expect([listed.code, listed.stdout]).toEqual([0, "listed\n"]);
  });

  it("runs a command inside, as a call that is on record, with its exit code", async () => {
    verifies("CMD-6");
    const place = await configured('sandbox = "off"\n');
    const script = "echo in > in.txt; echo out > ../out.txt; exit 5";
    const ended = await place.run(["sandbox", "--json", "--", "sh", "-c", script]);
    expect(ended.code).toBe(5);
    expect(await place.read("in.txt")).toBe("in\n");
    expect(existsSync(join(place.project, "../out.txt"))).toBe(false);
    const [record] = recordsOf(ended);
    const events = recordsOf(await place.run(["events", String(record?.["run_id"]), "--json"]));
    expect(events.map(({ type }) => type)).toContain("sandbox.applied");
    await place.write(".env", "KEY=1");
    const named = await place.run(["sandbox", "--", "cat", ".env"]);
    expect([named.code, named.stdout]).toEqual([3, ""]);
    expect(named.stderr).toContain('.env" is sensitive');
    const unnamed = await place.run(["sandbox", "--", "sh", "-c", "x=env; cat .$x"]);
    expect(unnamed.stdout).not.toContain("KEY");
    const shown = await place.run(["sandbox", "--", "cat", "in.txt"]);
    expect(shown).toMatchObject({ code: 0, stdout: "in\n" });
    // What is proven to only read has nothing to write.
    expect(shown.stderr).toMatch(/^Sandbox: writes nowhere, network closed/);
  });

  it("leaves no way out to a rule or a tool, and is denied what a rule denies", async () => {
    verifies("CMD-6");
    const place = await configured(`
[tools.overrides."code.run_command"]
sandbox = "off"
[[permissions.rules]]
argv = ["sh", "**"]
decision = "allow"
sandbox = "off"
[[permissions.rules]]
argv = ["rm", "**"]
decision = "deny"
`);
    const out = await place.run(["sandbox", "--", "sh", "-c", "echo out > ../out.txt"]);
    expect(out.stderr).toMatch(/^Sandbox: /);
    expect(existsSync(join(place.project, "../out.txt"))).toBe(false);
    await place.write("a.txt", "a");
    const denied = await place.run(["sandbox", "--", "rm", "a.txt"]);
    expect(denied.code).toBe(3);
    expect(await place.read("a.txt")).toBe("a");
  });

  it("says why no command would run, where none would", async () => {
    verifies("CMD-6");
    const rule = 'tool = "code.run_command"\ndecision = "deny"\nreason = "not here"\n';
    const place = await configured(`[[permissions.rules]]\n${rule}`);
    expect((await place.run(["sandbox"])).stdout).toContain("not here");
  });

  it("shows what is open and closed, and the doctor that it was tried", async () => {
    verifies("CMD-6");
    const place = await configured('[permissions.network]\nhosts = ["example.org"]\n');
    await place.write(".env", "KEY=1");
    const shown = await place.run(["sandbox"]);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/^Sandbox: writes in \. only, network open to example\.org, /);
    expect(shown.stdout).toMatch(/^ +masked: \.env$/m);
    const doctor = await place.run(["doctor"]);
    expect(doctor.stdout).toMatch(/^ok +sandbox +bubblewrap \d\S* works$/m);
  });
});

describe.skipIf(!hasSandbox)("explain (needs bubblewrap)", () => {
  it("says how a command would run: inside, or outside by which rule", async () => {
    verifies("CMD-6", "PERM-11");
    const place = await configured(`
[[permissions.rules]]
argv = ["docker", "**"]
decision = "ask"
sandbox = "off"
`);
    const explain = (argv: string[]) =>
      place.run(["explain", "code.run_command", JSON.stringify({ argv })]);
    expect((await explain(["npm", "test"])).stdout).toMatch(
      /^Sandbox: writes in \. only, network closed/m,
    );
    expect((await explain(["docker", "ps"])).stdout).toMatch(
      /^Outside the sandbox \(rules\[0\]\)/m,
    );
    expect((await place.run(["explain"])).stdout).toMatch(/^ {2}sandbox +on$/m);
  });
});

describe("a machine without a sandbox", () => {
  /** This one, with an empty file in the place of bubblewrap. */
  function runWithout(place: Place, ...args: string[]): Promise<Ended> {
    const argv = [process.execPath, bundle.program, ...args];
    const [program = "", ...rest] = hasSandbox ? [...HIDING, ...argv] : argv;
    const options = { cwd: place.project, env: environment(place.home) };
    return new Promise((resolve) => {
      const child = execFile(program, rest, options, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
      );
    });
  }
  const touch = (path: string) => JSON.stringify({ argv: ["touch", path] });

  it("is said once, with what to do and how to silence it, and each command is on record", async () => {
    verifies("CMD-6");
    const place = await bundle.place();
    await place.write(
      "s.yaml",
      `turns:
  - calls: [ { tool: code.run_command, input: { argv: [touch, a] } } ]
  - calls: [ { tool: code.run_command, input: { argv: [touch, b] } } ]
  - text: done
`,
    );
    const options = ["--model", "script:s.yaml", "--allow", "code.run_command"];
    const ended = await runWithout(place, "run", "go", ...options);
    expect(ended.code).toBe(0);
    expect(ended.stderr.match(/without a sandbox/g)).toHaveLength(1);
    expect(ended.stderr).toMatch(/sandbox\.mode = "off"/);
    const events = recordsOf(await place.run(["events", "--json"]));
    expect(events.filter(({ type }) => type === "sandbox.missing")).toHaveLength(2);
    // Where nothing runs, nothing runs without one.
    const explained = await runWithout(place, "explain", "code.run_command", touch("a"));
    expect(explained).toMatchObject({ code: 0, stderr: "" });
    expect(explained.stdout).toContain("No sandbox: ");
    const quiet = await configured('sandbox = "off"\n');
    const call = await runWithout(quiet, "call", "code.run_command", touch("a"), "--yes");
    expect(call).toMatchObject({ code: 0, stderr: "" });
  });

  it("runs nothing where one is required, which the doctor calls a failure", async () => {
    verifies("CMD-6");
    const place = await configured('[sandbox]\nmode = "required"\n');
    const denied = await runWithout(place, "call", "code.run_command", touch("a.txt"), "--yes");
    expect(denied.code).toBe(3);
    expect(denied.stderr).toMatch(/has to run in a sandbox, and there is none/);
    expect(existsSync(join(place.project, "a.txt"))).toBe(false);
    const typed = await runWithout(place, "sandbox", "--", "touch", "a.txt");
    expect(typed.code).toBe(3);
    expect(typed.stderr).toContain("bubblewrap is not installed");
    const hook = { id: "guard", event: "PreToolUse", command: ["/bin/true"], sandbox: true };
    await place.write(join(place.home, "hooks.json"), JSON.stringify({ hooks: [hook] }));
    const doctor = await runWithout(place, "doctor");
    expect(doctor.stdout).toMatch(/^fail +hooks +.*want a sandbox[^]*^ +guard$/m);
    expect(doctor.stdout).toMatch(/^fail +sandbox +.*sandbox\.mode/m);
    expect(doctor.code).toBe(1);
  });
});

describe.skipIf(!hasSandbox)("sandbox.auto_allow (needs bubblewrap)", () => {
  it("lets commands run without approval inside, and nothing that a rule, a target or the mode decides", async () => {
    verifies("CMD-6");
    const place = await configured(`
[sandbox]
auto_allow = true
[[permissions.rules]]
argv = ["git", "push", "**"]
decision = "ask"
[[permissions.rules]]
argv = ["rm", "**"]
decision = "deny"
[[permissions.rules]]
argv = ["make", "**"]
decision = "ask"
sandbox = "off"
`);
    await place.write(".env", "KEY=1");
    const commands = {
      inside: ["sh", "-c", "echo 1 > made.txt"],
      asked: ["git", "push"],
      denied: ["rm", "made.txt"],
      outside: ["touch", join(dirname(place.home), ".bashrc")],
      sensitive: ["cat", ".env"],
      unsandboxed: ["make", "all"],
    };
    const calls = Object.values(commands).map((argv) => ({
      calls: [{ tool: "code.run_command", input: { argv } }],
    }));
    await place.write("s.yaml", JSON.stringify({ turns: [...calls, { text: "done" }] }));
    const run = async (...args: string[]) =>
      recordsOf(await place.run(["run", "go", "--json", "--model", "script:s.yaml", ...args]));
    const facts = await run();
    const decisions = facts
      .filter(({ type }) => type === "permission.evaluated")
      .map(({ data }) => (data as { decision: string }).decision);
    expect(decisions).toEqual(["allow", "ask", "deny", "ask", "ask", "ask"]);
    expect(await place.read("made.txt")).toBe("1\n");
    expect(existsSync(join(dirname(place.home), ".bashrc"))).toBe(false);
    const planned = (await run("--mode", "plan")).map(({ type }) => type);
    expect(planned).toContain("run.completed");
    expect(planned).not.toContain("tool.started");
  });
});
