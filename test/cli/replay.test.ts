// A kept run from the command line: decided again, under another config, and as a script that runs as a test.

import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { loadSqlite } from "../../packages/store/src/sqlite/driver.ts";
import { bundleCli, recordsOf, type CliBundle, type Place } from "./cli-bundle.ts";

let bundle: CliBundle;
let place: Place;
let run_id = "";

/** So that the command is asked about, and no one is there to answer. */
const ASKING = '[permissions]\nread_only_commands = "ask"\n';
const LONG = "x".repeat(40_000);
const SCRIPT = `
turns:
  - text: Looking.
    calls:
      - { tool: code.read_file, input: { path: a.txt } }
      - { tool: code.read_file, input: { path: missing.txt } }
      - { tool: code.read_file, input_text: '{"path": ' }
      - { tool: code.no_such_tool, input: {} }
  - error: { kind: overloaded }
  - parts:
      - { text: Writing. }
      - { call: { tool: code.write_file, input: { path: b.txt, content: "key sk-ant-api03-${"A".repeat(80)}" } } }
      - { text: And more. }
      - { call: { tool: code.write_file, input: { path: c.txt, content: ${LONG} } } }
      - { call: { tool: code.run_command, input: { argv: [ "cat", "a.txt" ] } } }
  - text: Done.
`;

beforeAll(async () => {
  bundle = await bundleCli();
  place = await bundle.place();
  await place.write("a.txt", "hello\n");
  await place.write("s.yaml", SCRIPT);
  await place.write(join(place.home, "config.toml"), ASKING);
  const rules = ["--allow", "code.write_file", "--deny", "code.list_dir"];
  const run = await place.run(["run", "--model", "script:s.yaml", ...rules, "go on"]);
  run_id = /soong events (\S+)`/.exec(run.stderr)?.[1] ?? "";
});

afterAll(() => bundle.remove());

describe("soong replay", () => {
  it("decides a run as it was decided, with its tools, project and config gone", async () => {
    verifies("REPLAY-1");
    await rm(join(place.project, "a.txt"));
    await place.write(join(place.home, "config.toml"), "not a config");
    const replayed = await place.run(["replay", run_id, "--json"]);
    await place.write("a.txt", "hello\n");
    await rm(join(place.home, "config.toml"));
    expect(replayed.stderr).toBe("");
    expect(JSON.parse(replayed.stdout)).toMatchObject({
      schema: "soong.replay/1",
      outcome: "same",
      end: "completed",
      calls: 7,
      left_out: [],
    });
    expect(replayed.code).toBe(0);
  });

  it("omits what a killed process left open, of the run and not of the one that continued", async () => {
    verifies("REPLAY-1", "STORE-3");
    const there = await bundle.place();
    await there.write("a.txt", "hello\n");
    await there.write(
      "cut.yaml",
      `turns:
  - calls:
      - { tool: code.read_file, input: { path: a.txt } }
  - calls:
      - { tool: code.read_file, input: { path: a.txt } }
      - { tool: code.run_command, input: { argv: [sh, -c, "echo > begun; exec sleep 20"] } }
      - { tool: code.write_file, input: { path: b.txt, content: hi } }
`,
    );
    await there.write("rest.yaml", "turns: [{ text: I see. }]\n");
    const allow = ["--allow", "code.write_file", "--allow", "code.run_command"];
    const { child, ended } = there.start(["run", "--model", "script:cut.yaml", ...allow, "go"]);
    await vi.waitFor(() => there.read("begun"), { timeout: 20_000 });
    child.kill("SIGKILL");
    await ended;
    const [cut = ""] = await readdir(join(there.home, "runs"));
    const before = await there.run(["replay", cut, "--json"]);
    expect(JSON.parse(before.stdout)).toMatchObject({ outcome: "same", end: "none", calls: 4 });
    const [session = ""] = await readdir(join(there.home, "artifacts"));
    const resumed = await there.run(["resume", "--model", "script:rest.yaml", session, "go on"]);
    expect(resumed.code).toBe(0);
    const { run_id: second } = recordsOf(await there.run(["events", "--json"]))[0] ?? {};
    // The newest run here, also by its session.
    const [after, next, named] = await Promise.all([
      there.run(["replay", cut, "--json"]),
      there.run(["replay", "--json"]),
      there.run(["replay", session, "--json"]),
    ]);
    // Two reads were compared; what came after them no one decided.
    expect(JSON.parse(after.stdout)).toMatchObject({
      outcome: "same",
      end: "failed",
      calls: 2,
      left_out: [{ why: expect.stringContaining("runtime_restarted") as string }],
    });
    expect(second).not.toBe(cut);
    for (const { stdout } of [next, named]) {
      expect(JSON.parse(stdout)).toMatchObject({ run_id: second, outcome: "same", left_out: [] });
    }
  });

  it("lists what another config would decide, with the place of the rule", async () => {
    verifies("REPLAY-2");
    await place.write(
      "other.toml",
      [
        "[tools]",
        'disabled = ["code.search"]',
        "[[permissions.rules]]",
        'tool = "code.run_command"',
        'argv = ["cat", "**"]',
        'decision = "allow"',
        "[[permissions.rules]]",
        'path = "c.txt"',
        'decision = "deny"',
        'reason = "no c"',
      ].join("\n"),
    );
    const tried = await place.run(["replay", run_id, "--config", "other.toml"]);
    const file = join(place.project, "other.toml");
    expect(tried.code).toBe(0);
    expect(tried.stdout).toContain("tool code.search: loaded → excluded");
    expect(tried.stdout).toMatch(/call code\.run_command \(\S+\): ask → allow/);
    expect(tried.stdout).toContain(`${file}:3`);
    expect(tried.stdout).toMatch(/call code\.write_file \(\S+\): allow → deny\n\s+no c/);
    expect(tried.stdout).toContain(`${file}:7`);
    const same = await place.run(["replay", run_id, "--config", "other.toml", "--json"]);
    expect(JSON.parse(same.stdout)).toMatchObject({
      schema: "soong.replay.what_if/1",
      calls: [
        { was: { decision: "allow" } },
        { was: { decision: "ask" }, now: { decision: "allow" } },
      ],
    });
    const wrong = await place.run(["replay", run_id, "--config", "none.toml"]);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
  });

  it("prints a script that does the same when it is run", async () => {
    verifies("REPLAY-3");
    const printed = await place.run(["replay", run_id, "--script"]);
    expect(printed.code).toBe(0);
    expect(printed.stderr).toContain("placeholders of secrets");
    expect(printed.stdout).toContain("# Its prompt: go on");
    expect(printed.stdout).not.toContain("sk-ant-api03");
    const copy = await bundle.place();
    await copy.write(join(copy.home, "config.toml"), ASKING);
    await copy.write("a.txt", "hello\n");
    await copy.write("again.yaml", printed.stdout);
    const config = join(place.home, "config.toml");
    await place.write(config, '[permissions]\nread_only_commands = "ask"\n');
    const rules = ["--allow", "code.write_file", "--deny", "code.list_dir"];
    const again = await copy.run(["run", "--model", "script:again.yaml", ...rules, "go on"]);
    expect(again).toMatchObject({ code: 0 });
    const second = /soong events (\S+)`/.exec(again.stderr)?.[1] ?? "";
    expect(await callsOf(copy, second)).toEqual(await callsOf(place, run_id));
    expect(await copy.read("c.txt")).toBe(LONG);
    // A check that is missed fails the run: with another file it is another test.
    await copy.write("a.txt", "bye\n");
    const missed = await copy.run(["run", "--model", "script:again.yaml", ...rules, "go on"]);
    expect(missed.code).toBe(1);
    expect(missed.stderr).toContain("should contain");
  });

  it("says what is wrong, and where to look", async () => {
    verifies("REPLAY-1");
    expect(await place.run(["replay", run_id, "--script", "--json"])).toMatchObject({ code: 2 });
    const unknown = await place.run(["replay", "run_none"]);
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain("There is no run run_none");
    const [session = ""] = await readdir(join(place.home, "artifacts"));
    const folder = join(place.home, "artifacts", session);
    const database = (await loadSqlite())(join(place.home, "store", "soong.db"));
    const rows = database.prepare("SELECT record FROM artifacts").all() as { record: string }[];
    const kept = rows.map(
      ({ record }) => JSON.parse(record) as { artifact_id: string; name: string },
    );
    const definitions = kept.filter(({ name }) => name === "definitions.json");
    expect(definitions).toHaveLength(1);
    await rm(join(folder, definitions[0]?.artifact_id ?? ""));
    const missing = await place.run(["replay", run_id]);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("is missing. `soong verify`");
    database.exec("UPDATE facts SET line = replace(line, '\"allow\"', '\"deny\"')");
    database.close();
    const edited = await place.run(["replay", run_id]);
    expect(edited.code).toBe(1);
    expect(edited.stderr).toContain("is not as it was recorded");
    expect(edited.stderr).toContain("soong verify");
  });
});

describe("soong explain", () => {
  it("prints a refusal of several lines in as many", async () => {
    verifies("PERM-11");
    const explained = await place.run(["explain", "code.read_file", '{"x":1}']);
    expect(explained.stdout).toMatch(/schema:\n {2}- path: required[^\\]*\n {2}- x: unknown field/);
    expect(explained.stdout).not.toContain(String.raw`\n`);
  });
});

async function callsOf({ home, project }: Place, run: string): Promise<unknown[]> {
  const text = await readFile(join(home, "runs", run, "logs", "tools.jsonl"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map(({ tool_name, status, summary }) => ({
      tool_name,
      status,
      // A placeholder is shorter than its secret.
      summary: String(summary)
        .replace(project, "")
        .replace(/\d+ bytes/, ""),
    }));
}
