// The demo as the user meets it who just installed the command: it runs, shows, judges itself, and what it prints
// to try next works as printed.

import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { bundleCli, environment, type CliBundle, type Place } from "./cli-bundle.ts";
import { atTerminal, canMakeTerminals } from "./pseudo-terminal.ts";

let bundle: CliBundle;
let place: Place;
/** Where the demo makes its folder. */
let temporary: string;

const shipped = fileURLToPath(new URL("../../examples/demo", import.meta.url));

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

beforeEach(async () => {
  place = await bundle.place();
  temporary = join(dirname(place.home), "tmp");
  await mkdir(temporary);
  // As the package has it: beside the program.
  await cp(shipped, demoFolder(), { recursive: true, force: true });
  await chmod(join(demoFolder(), "config.toml"), 0o666);
});

function demoFolder(): string {
  return join(dirname(bundle.program), "demo");
}

/** As by `npx soong demo`. */
function demo(): ReturnType<Place["run"]> {
  return place.run(["demo"], { env: { TMPDIR: temporary, npm_command: "exec" } });
}

describe("soong demo", () => {
  it("reads, searches, fails, recovers, edits, tests and is refused, and says where to look", async () => {
    verifies("CLI-5");
    const { code, stdout, stderr } = await demo();
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const [folder = ""] = await readdir(temporary);
    const there = join(temporary, folder);

    expect(
      inOrder(stdout, [
        "← code.search succeeded: ",
        "← code.run_command failed: node failed with exit code 1",
        "← code.edit_file failed: src/total.mjs: edits[0].old is not in the file.",
        "-    const discount = quantity > 10 ? 0.1 : 0;",
        "+    const discount = quantity >= 10 ? 0.1 : 0;",
        "← code.run_command succeeded: ",
        "← code.run_command denied: code.run_command is denied: publishing is for",
        "yes  publishing was refused, by the rule in config.toml:15, and did not happen",
        "Twelve steps",
        "workers/1 plan completed: plan: done",
        // How much of a name is shown depends on how long the step took.
        "workers/1 p",
        "workers/4 ",
        "yes  each of the twelve steps was done once, and the task is completed",
        "yes  two steps failed once, and were done at the second attempt",
        "yes  4 workers shared the work, ",
      ]),
    ).toEqual([]);
    expect(stdout).not.toContain("NO ");
    expect(stdout).not.toContain("\u001b[");
    expect(longestOf(stdout)).toBeLessThanOrEqual(80);
    const mended = await readFile(join(there, "project", "src", "total.mjs"), "utf8");
    expect(mended).toContain("quantity >= 10 ? 0.1");
    expect((await stat(join(there, "home", "config.toml"))).mode & 0o777).toBe(0o600);
    // What is shipped stays as it is, and the user's own home is not used.
    expect(await readdir(place.project)).toEqual([]);
    expect(await readdir(dirname(place.home))).not.toContain("home");

    const printed = stdout.split("\n").filter((line) => line.startsWith("  SOONG_AGENT_HOME="));
    // This one continues until it is ended, and has tests of its own.
    expect(printed.pop()).toMatch(/ npx soong inspect --open$/);
    const said = printed.map(typed);
    expect(said[0]).toContain("permission.evaluated");
    expect(said[1]).toContain(`${join(there, "home", "config.toml")}:15`);
    expect(said[2]).toContain("8 calls");
    expect(said[3]).toContain("Prepare the market  completed  12/12 steps");
  });

  it.each([
    {
      what: "no worker may be sent",
      change: [
        "[[permissions.rules]]",
        '[[permissions.rules]]\ntool = "agent.dispatch_worker"\ndecision = "deny"\n\n[[permissions.rules]]',
      ],
      yes: ["it listed", "publishing was refused", "the run"],
      no: ["each of the twelve steps", "two steps failed once", "0 workers shared"],
      says: "stuck: ",
    },
    {
      what: "publishing is allowed",
      change: ['"deny"', '"allow"'],
      yes: ["it listed", "an edit that did not fit"],
      no: [
        "the tests failed before it",
        "publishing was refused, by the rule in no file",
        "the run",
      ],
      says: "is not what turns[5] expects",
    },
    {
      what: "nothing may be read",
      change: [
        "[[permissions.rules]]",
        '[[permissions.rules]]\ntool = "code.read_file"\ndecision = "deny"\n\n[[permissions.rules]]',
      ],
      yes: [],
      no: ["it listed", "an edit that did not fit", "the tests", "publishing", "the run"],
      says: "is not what turns[1] expects",
    },
  ])("fails when things are not as told, such as that $what", async ({ change, yes, no, says }) => {
    const config = join(demoFolder(), "config.toml");
    const [from = "", to = ""] = change;
    await writeFile(config, (await readFile(config, "utf8")).replace(from, to));
    const { code, stdout, stderr } = await demo();
    expect(code).toBe(1);
    expect(
      inOrder(stdout, [
        ...yes.map((point) => `yes  ${point}`),
        ...no.map((point) => `NO   ${point}`),
      ]),
    ).toEqual([]);
    expect(stderr).toContain(says);
    expect(stderr).toContain(`what it left is in ${temporary}`);
    expect(stdout).not.toContain("See for yourself");
  });

  it("says so when its files are not there", async () => {
    await rm(join(demoFolder(), "script.yaml"));
    const { code, stderr } = await demo();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^soong: The files of the demo cannot be copied from .*Install soong again\.\n$/,
    );
  });
});

describe.skipIf(!canMakeTerminals())("soong demo at a terminal (needs python3)", () => {
  it("ends at Ctrl-C, in the middle of what it shows", async () => {
    const { code, screen } = await atTerminal(
      [process.execPath, bundle.program, "demo"],
      [{ after: "code.list_dir {", type: "\u0003" }],
      {
        cwd: place.project,
        env: environment(place.home, { TERM: "xterm", TMPDIR: temporary }),
      },
    );
    expect(code).toBe(130);
    expect(screen).toContain("\u001b[36mModel\u001b[39m");
    expect(screen).not.toContain("Now the tests");
    expect(screen).not.toContain("What the record says of it");
  });
});

/** Those that are not there, or not after the one before. */
function inOrder(text: string, parts: readonly string[]): string[] {
  let at = 0;
  return parts.filter((part) => {
    const found = text.indexOf(part, at);
    if (found !== -1) at = found + part.length;
    return found === -1;
  });
}

/** Commands to copy are as long as they are. */
function longestOf(text: string): number {
  const lines = text.split("\n").filter((line) => !/^ {2}(SOONG_AGENT_HOME=|rm )/.test(line));
  return Math.max(...lines.map((line) => line.length));
}

/** What a shell makes of the line, where npx finds the program. */
function typed(command: string): string {
  const soong = `npx() { shift; "${process.execPath}" "${bundle.program}" "$@"; }`;
  const env = environment("/nowhere");
  return execFileSync("sh", ["-c", `${soong}\n${command}`], {
    encoding: "utf8",
    env,
    stdio: "pipe",
  });
}
