// What stays after a command: sessions, facts, changes that can be taken back; and how commands look after it.

import { existsSync } from "node:fs";
import { mkdir, readdir, realpath, stat, symlink, writeFile } from "node:fs/promises";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSqlite } from "../../packages/store/src/sqlite/driver.ts";
import { bundleCli, recordsOf, type CliBundle, type Ended, type Place } from "./cli-bundle.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

/** As `soong call` does it, without a process for each. */
async function write(place: Place, path: string, content: string) {
  const { loadConfig, openRuntime } = await bundle.modules();
  const runtime = await openRuntime({
    env: {},
    cwd: place.project,
    config: await loadConfig({ home: place.home }),
    ask: () => ({ decision: "allow_once" }),
  });
  const { session } = await runtime.openSession();
  const run = await session.startRun();
  const result = await run.call("code.write_file", { path, content, overwrite: true });
  run.end("completed");
  await runtime.close();
  if (result.is_error) throw new Error(result.summary);
  const { session_id } = session;
  return { session_id, run_id: run.identity.run_id, tool_call_id: result.tool_call_id };
}

/** A call that continues until someone makes the file `go`; and its run, once it is known. */
async function startWaiting(place: Place) {
  const script = "touch begun; while [ ! -e go ]; do sleep 0.05; done";
  const input = JSON.stringify({ argv: ["sh", "-c", script] });
  const started = place.start(["call", "code.run_command", input, "--yes", "--json"]);
  let isOver = false;
  void started.ended.then(() => {
    isOver = true;
  });
  // The folder of a run is made a moment after its facts are on disk.
  const runs = join(place.home, "runs");
  let run_id: string | undefined;
  while (run_id === undefined || !existsSync(join(place.project, "begun"))) {
    if (isOver) throw new Error(`the call ended at once: ${(await started.ended).stderr}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
    [run_id] = existsSync(runs) ? await readdir(runs) : [];
  }
  return { ...started, run_id };
}

describe("sessions", () => {
  it("are listed, removed by id and by age, and leave something to check", async () => {
    verifies("ART-4", "CLI-4", "CLI-7", "EVENT-6");
    const place = await bundle.place();
    expect(await place.run(["sessions"])).toMatchObject({ code: 0, stdout: "" });
    // Two at once, in a home that neither of them found.
    const call = async (): Promise<string> => {
      const [record] = recordsOf(await place.run(["call", "code.list_dir", "--json"]));
      return String(record?.["session_id"]);
    };
    const [one, two] = await Promise.all([call(), call()]);
    const listed = recordsOf(await place.run(["sessions", "--json"]));
    expect(new Set(listed.map(({ session_id }) => session_id))).toEqual(new Set([one, two]));
    expect(listed[0]).toMatchObject({ schema: "soong.sessions/1", project: place.project });
    const removed = await place.run(["sessions", "rm", one]);
    expect(removed).toMatchObject({ code: 0, stdout: `removed ${one}\n` });
    const verified = await place.run(["verify", "--all", "--json"]);
    expect(verified.code).toBe(0);
    expect(recordsOf(verified)).toEqual([
      expect.objectContaining({ session_id: two, ok: true }),
      expect.objectContaining({
        session_id: one,
        ok: true,
        removed: expect.objectContaining({ reason: "soong sessions rm" }) as object,
      }),
    ]);
    const [young, all] = [
      await place.run(["sessions", "rm", "--older-than", "1h"]),
      await place.run(["sessions", "rm", "--keep-bytes", "0"]),
    ];
    expect(young.stdout).toMatch(/^0 removed/);
    expect(all.stdout).toContain(`removed ${two}`);
    const again = await place.run(["sessions", "rm", two]);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(again.stderr).toContain("removed");
  });

  it("are meant by a unique prefix, by a run, or as the newest here", async () => {
    verifies("CLI-4");
    const place = await bundle.place();
    const none = await place.run(["events"]);
    expect(none).toMatchObject({ code: 1, stdout: "" });
    const { loadConfig, openRuntime } = await bundle.modules();
    const config = await loadConfig({ home: place.home });
    const runtime = await openRuntime({ env: {}, cwd: place.project, config });
    // Of one process, so that their ids begin alike.
    const made: { session_id: string; run_id: string }[] = [];
    for (const title of ["first", "second"]) {
      const { session } = await runtime.openSession({ title });
      const run = await session.startRun();
      run.end("completed");
      made.push({ session_id: session.session_id, run_id: run.identity.run_id });
    }
    await runtime.close();
    const [first, second] = made as [(typeof made)[0], (typeof made)[0]];
    const runOf = async (...words: string[]): Promise<unknown> =>
      recordsOf(await place.run(["events", "--json", ...words]))[0]?.["run_id"];
    expect(await runOf()).toBe(second.run_id);
    expect(await runOf(first.session_id)).toBe(first.run_id);
    expect(await runOf(first.run_id.slice("run_".length))).toBe(first.run_id);
    const verified = recordsOf(await place.run(["verify", first.run_id, "--json"]));
    expect(verified).toMatchObject([{ session_id: first.session_id, ok: true }]);
    const ambiguous = await place.run(["verify", first.session_id.slice(8, 16)]);
    expect(ambiguous).toMatchObject({ code: 2, stdout: "" });
    for (const line of [/begins the ids of 2 sessions/, /_\S+ {2}first {2}just now/, /second/]) {
      expect(ambiguous.stderr).toMatch(line);
    }
    const elsewhere = await place.run(["events"], { cwd: place.home });
    expect(elsewhere).toMatchObject({ code: 1, stdout: "" });
    expect(elsewhere.stderr).toContain("soong sessions --all");
  });

  it("are removed automatically as the config says, except for the one in use, and a note says so", async () => {
    verifies("ART-4", "CONF-3");
    const place = await bundle.place();
    const old = await write(place, "a.txt", "x");
    await place.write(join(place.home, "config.toml"), "[store.retention]\nmax_bytes = 1");
    const call = await place.run(["call", "code.list_dir", "--json"]);
    expect(call.code).toBe(0);
    expect(call.stderr).toContain("1 session was removed, as store.retention of the config says");
    const verified = recordsOf(await place.run(["verify", "--all", "--json"]));
    expect(verified).toMatchObject([
      { session_id: recordsOf(call)[0]?.["session_id"], ok: true },
      { session_id: old.session_id, ok: true, removed: { reason: "more than 1 bytes in all" } },
    ]);
  });

  it("that another process writes are waited for as long as the config says", async () => {
    verifies("CONF-3", "STORE-1");
    const place = await bundle.place();
    await write(place, "a.txt", "x");
    await place.write(join(place.home, "config.toml"), "[store]\nbusy_timeout_ms = 20");
    const open = await loadSqlite();
    const database = open(join(place.home, "store", "soong.db"));
    try {
      database.exec("BEGIN IMMEDIATE");
      const call = await place.run(["call", "code.list_dir", "{}"]);
      expect(call.code).toBe(1);
      expect(call.stderr).toMatch(/another process/);
      database.exec("ROLLBACK");
      expect((await place.run(["call", "code.list_dir", "{}"])).code).toBe(0);
    } finally {
      database.close();
    }
  });

  it("in a store that cannot be entered are not taken for none", async () => {
    verifies("EVENT-6", "CLI-4");
    const place = await bundle.place();
    await mkdir(place.home, { recursive: true });
    // As for a user without rights: what is there cannot be told, whoever runs this.
    await symlink("store", join(place.home, "store"));
    for (const command of ["verify", "sessions"]) {
      const looked = await place.run([command]);
      expect(looked).toMatchObject({ code: 1, stdout: "" });
      expect(looked.stderr).toContain(join(place.home, "store"));
    }
  });

  it("that lose their store while they are written run nothing more, and end as failed", async () => {
    verifies("STORE-1", "STORE-3", "PIPE-3");
    const place = await bundle.place();
    // In the sandbox the home is masked.
    await place.write(join(place.home, "config.toml"), 'sandbox = "off"');
    await place.write("clear.sh", `rm -rf ${place.home}`);
    const calls = ["[sh, clear.sh]", "[touch, after]"].map(
      (argv) => `{ calls: [ { tool: code.run_command, input: { argv: ${argv} } } ] }`,
    );
    await place.write("s.yaml", `turns: [ ${calls.join(", ")}, { text: Done. } ]`);
    const run = await place.run([
      "run",
      "--model",
      "script:s.yaml",
      "--allow",
      "code.run_command",
      "go",
    ]);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/store.*soong\.db was removed or moved away while this process/);
    expect(run.stdout).not.toContain("Done.");
    await expect(place.read("after")).rejects.toThrow("ENOENT");
  });

  it("whose tables were changed are found out, and made anew from the facts", async () => {
    verifies("EVENT-6", "CLI-4");
    const place = await bundle.place();
    const { session_id } = await write(place, "a.txt", "x");
    const database = (await loadSqlite())(join(place.home, "store", "soong.db"));
    database.exec("DELETE FROM calls");
    database.close();
    const found = await place.run(["verify", "--all"]);
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(/\(derived\).*of calls is missing/);
    expect(found.stdout).toContain(`soong verify --rebuild ${session_id}`);
    const rebuilt = await place.run(["verify", "--all", "--rebuild"]);
    expect(rebuilt).toMatchObject({ code: 0, stdout: expect.stringContaining("ok") as string });
    expect((await place.run(["verify", "--all"])).code).toBe(0);
  });

  it("are searched for text, by what was said and what tools answered", async () => {
    verifies("RESULT-5", "CLI-4");
    const place = await bundle.place();
    await place.write("b.txt", "the Needle is here\n");
    const read = "{ calls: [ { tool: code.read_file, input: { path: b.txt } } ] }";
    await place.write("s.yaml", `turns: [ ${read}, { text: Found it. } ]`);
    await place.run(["run", "--model", "script:s.yaml", "where is it?"]);
    const search = async (text: string): Promise<unknown[]> =>
      recordsOf(await place.run(["sessions", "search", text, "--json"]));
    const excerpt = expect.stringContaining("the Needle is here") as string;
    expect(await search("nEEdle")).toMatchObject([
      { kind: "tool_result", tool_name: "code.read_file", excerpt },
    ]);
    expect(await search("where is")).toMatchObject([{ kind: "message" }]);
    // A name of a field is not part of what was said.
    expect((await place.run(["sessions", "search", "node_id"])).code).toBe(1);
    expect((await place.run(["sessions", "search", "found it"])).stdout).toContain("Found it.");
  });

  it("whose removal was cut off are gone at the next look", async () => {
    verifies("ART-4", "STORE-3");
    const place = await bundle.place();
    const { session_id, run_id } = await write(place, "a.txt", "x");
    const database = (await loadSqlite())(join(place.home, "store", "soong.db"));
    // As a kill leaves it right after the rows are gone.
    const rows = ["", run_id].map((run) => `('${session_id}', '${run}')`);
    database.exec(`INSERT INTO leavings VALUES ${rows.join(", ")}`);
    database.close();
    expect(existsSync(join(place.home, "runs", run_id))).toBe(true);
    expect((await place.run(["sessions"])).code).toBe(0);
    expect(existsSync(join(place.home, "runs", run_id))).toBe(false);
  });

  it("that were edited are detected, with the fact", async () => {
    verifies("EVENT-6", "CLI-4");
    const place = await bundle.place();
    const { session_id } = await write(place, "a.txt", "x");
    const open = await loadSqlite();
    const database = open(join(place.home, "store", "soong.db"));
    database.exec(
      `UPDATE facts SET line = replace(line, '"allow_once"', '"allow_all"') WHERE line LIKE '%permission.resolved%'`,
    );
    database.close();
    const [text, doctor] = await Promise.all([
      place.run(["verify", "--all"]),
      place.run(["doctor"]),
    ]);
    expect(text.code).toBe(1);
    expect(text.stdout).toMatch(new RegExp(`^fail +${session_id}: fact \\d+ \\(edited\\)`));
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/^fail +store/m);
  });

  it("that were damaged are listed as such, beside the others", async () => {
    verifies("EVENT-6", "CLI-4");
    const place = await bundle.place();
    const damaged = await write(place, "a.txt", "x");
    const sound = await write(place, "b.txt", "x");
    const database = (await loadSqlite())(join(place.home, "store", "soong.db"));
    database.exec(`UPDATE facts SET line = substr(line, 1, 40) WHERE place >=
      (SELECT session_no * (1 << 32) FROM sessions WHERE session_id = '${damaged.session_id}') AND place <
      (SELECT (session_no + 1) * (1 << 32) FROM sessions WHERE session_id = '${damaged.session_id}')`);
    database.close();
    const [listed, text] = await Promise.all([
      place.run(["sessions", "--json"]),
      place.run(["sessions"]),
    ]);
    expect(recordsOf(listed)).toMatchObject([
      { session_id: sound.session_id, status: "done" },
      { session_id: damaged.session_id, status: "damaged" },
    ]);
    expect(text).toMatchObject({ code: 0, stderr: "" });
    expect(text.stdout).toContain("damaged");
  });

  it("continue from an earlier node when they are rewound", async () => {
    verifies("CLI-7");
    const place = await bundle.place();
    const { session_id } = await write(place, "a.txt", "x");
    const open = await loadSqlite();
    const database = open(join(place.home, "store", "soong.db"), { readOnly: true });
    const { node_id } = database.prepare("SELECT node_id FROM nodes").get() as { node_id: string };
    database.close();
    const rewound = await place.run(["rewind", session_id, node_id]);
    expect(rewound).toMatchObject({ code: 0, stdout: expect.stringContaining(node_id) as string });
    expect(rewound.stderr).toContain("`soong -c` continues");
    const unknown = await place.run(["rewind", session_id, "nowhere"]);
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toContain("nowhere");
    expect((await place.run(["verify", session_id])).code).toBe(0);
  });
});

describe("a conversation of several prompts", () => {
  it("is shown as Markdown and as records, and rewound to before a prompt without a terminal", async () => {
    verifies("CLI-4", "CLI-7");
    const place = await bundle.place();
    await place.write(
      "s.yaml",
      `turns:
  - text: Reading.
    calls: [ { tool: code.read_file, input: { path: s.yaml } } ]
  - text: It is a **script**.
`,
    );
    await place.write("more.yaml", "turns: [ { text: Very good. } ]");
    await place.run(["run", "--model", "script:s.yaml", "What is in s.yaml?"]);
    const [session] = recordsOf(await place.run(["sessions", "--json"]));
    expect(session).toMatchObject({ status: "done", turns: 1, title: "What is in s.yaml?" });
    const id = String(session?.["session_id"]);
    const none = await place.run(["rewind"]);
    expect(none).toMatchObject({ code: 1, stdout: "" });
    expect(none.stderr).toContain("no earlier point");
    await place.run(["resume", id, "Thank\nyou", "--model", "script:more.yaml"]);
    const shown = await place.run(["show"]);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toMatch(
      /^# What is in s\.yaml\?\n\n`session_\w+` · \S+ · done · just now · 2 turns · cost unknown\n\n## Prompt\n\nWhat is in s\.yaml\?\n\n## Answer \(script:s\.yaml\)\n\nReading\.\n\n\*\*code\.read_file\*\* `s\.yaml`: succeeded: [^]*\n```text\n[^]*It is a \*\*script\*\*\.\n\n## Prompt\n\nThank\nyou\n/,
    );
    const records = recordsOf(await place.run(["show", id.slice(8, 14), "--json"]));
    expect(records.map(({ schema, kind }) => [schema, kind])).toEqual(
      [undefined, "prompt", "answer", "call", "answer", "prompt", "answer"].map((kind) => [
        "soong.show/1",
        kind,
      ]),
    );
    const points = await place.run(["rewind"]);
    expect(points.stdout).toMatch(/^node_\w+ {2}before: Thank\\nyou\n$/);
    const [node = ""] = points.stdout.split(" ");
    const rewound = await place.run(["rewind", id, node.slice("node_".length)]);
    expect(rewound.code, rewound.stderr).toBe(0);
    expect((await place.run(["show"])).stdout).not.toContain("Thank");
    const [unknown, many] = [
      await place.run(["rewind", id, "node_nowhere"]),
      await place.run(["rewind", id, "node_"]),
    ];
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(many).toMatchObject({ code: 2, stdout: "" });
    expect(many.stderr).toMatch(/begins the ids of \d nodes[^]*message: What is in s\.yaml\?/);
    const { child, ended } = place.start(["show", "--full"]);
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  });
});

it("a transcript has what was asked about a call, and a child agent below the call that started it", async () => {
  verifies("CLI-4");
  const place = await bundle.place();
  await place.write(
    "s.yaml",
    `turns:
  - calls:
      - { tool: agent.create_sub_agent, input: { task: Count. } }
      - { tool: code.write_file, input: { path: b.txt, content: hi } }
  - text: Done.
agents:
  default_sub_agent: [ [ { text: One file. } ] ]
`,
  );
  await place.run(["run", "--model", "script:s.yaml", "Go"]);
  const { stdout } = await place.run(["show"]);
  expect(stdout).toMatch(
    /\*\*agent\.create_sub_agent\*\* `Count\.`: succeeded[^]*\n\n> \*\*Agent default_sub_agent\*\*: Count\.\n[^]*\n> One file\.\n\n\*\*code\.write_file\*\* `b\.txt`: denied[^]*\n- Approval requested: [^]*\n- Not approved: /,
  );
});

describe("events", () => {
  it("of a run under way are followed to its end; Ctrl-C ends the call and is on record", async () => {
    verifies("CLI-4");
    const place = await bundle.place();
    const waiting = await startWaiting(place);
    const following = place.start(["events", waiting.run_id, "--follow", "--json"]);
    const first = new Promise((resolve) => {
      following.child.stdout?.once("data", resolve);
    });
    await Promise.race([first, following.ended]);
    waiting.child.kill("SIGINT");
    const [call, events] = await Promise.all([waiting.ended, following.ended]);
    expect(call.code).toBe(130);
    expect(recordsOf(call)).toMatchObject([
      {
        result: {
          status: "aborted",
          metadata: { abort_reason: expect.stringContaining("interrupted") as string },
        },
      },
    ]);
    expect(events.code).toBe(0);
    const types = recordsOf(events).map(({ type }) => type);
    expect(types.at(0)).toBe("run.started");
    expect(types.at(-1)).toBe("run.aborted");
  });

  it("of a run whose process was killed are followed to what is left of it", async () => {
    verifies("CLI-4", "STORE-3");
    const place = await bundle.place();
    const waiting = await startWaiting(place);
    const following = place.start(["events", waiting.run_id, "--follow"]);
    waiting.child.kill("SIGKILL");
    await waiting.ended;
    // The command it had started has no one left to end it.
    await place.write("go", "");
    const events = await following.ended;
    expect(events).toMatchObject({ code: 0 });
    expect(events.stdout.trimEnd().split("\n").at(-1)).toContain("run.failed");
    expect(events.stderr).toContain("is gone");
    expect((await place.run(["verify", "--all"])).code).toBe(0);
  });

  it("end quietly when their reader has seen enough, and not when they get lost", async () => {
    verifies("CLI-6", "CLI-4");
    const place = await bundle.place();
    const { run_id } = await write(place, "a.txt", "x".repeat(100_000));
    const { child, ended } = place.start(["events", run_id, "--json"]);
    child.stdout?.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
    // A reader that cannot take it is another matter.
    if (process.platform === "linux") {
      const full = await place.run(["events", run_id, "--json"], { stdout: "/dev/full" });
      expect(full.code).toBe(1);
      expect(full.stderr).toContain("not complete");
    }
    const unknown = await place.run(["events", "run_none"]);
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toContain("no run run_none");
    const people = await place.run(["events", run_id]);
    expect(people.stdout).toMatch(/code\.write_file: succeeded[^·]*\s·\s+tool\.completed/);
    expect(Math.max(...people.stdout.split("\n").map((line) => line.length))).toBeLessThan(81);
  });
});

describe("undo", () => {
  it("shows nothing of a sensitive file where no one can be asked", async () => {
    verifies("PIPE-9", "CODE-6");
    const place = await bundle.place();
    await place.write(".env", "KEY=hunter2\n");
    const input = JSON.stringify({ path: ".env", content: "KEY=new\n", overwrite: true });
    expect((await place.run(["call", "code.write_file", input, "--yes"])).code).toBe(0);
    const asked = await place.run(["undo"]);
    expect(asked).toMatchObject({ code: 3, stdout: "" });
    expect(asked.stderr).toContain("reading it needs permission");
    expect(asked.stderr).not.toMatch(/hunter2|KEY=new/);
    expect((await place.run(["undo", "--yes"])).code).toBe(0);
    expect(await place.read(".env")).toBe("KEY=hunter2\n");
  });

  it("acts where the call wrote, not where its session began", async () => {
    verifies("CODE-6", "CLI-7");
    const [a, b] = [await bundle.place(), await bundle.place()];
    const inB = join(b.project, "b.txt");
    const roots = `[tools]\nwrite_roots = [${JSON.stringify(b.project)}]\n`;
    await a.write(join(a.home, "config.toml"), roots);
    await write(a, inB, "from a\n");
    const here = await a.run(["undo", "--yes"]);
    expect(here).toMatchObject({ code: 1, stdout: "" });
    expect(here.stderr).toContain(`in ${a.project} is left to undo`);
    expect(existsSync(inB)).toBe(true);
    const there = await a.run(["undo", "--yes"], { cwd: b.project });
    expect(there).toMatchObject({ code: 0, stdout: `Removed ${inB}.\n` });
    expect(existsSync(inB)).toBe(false);
    // Named, it is taken back from anywhere.
    const { tool_call_id } = await write(a, inB, "again\n");
    const named = await a.run(["undo", tool_call_id, "--yes"]);
    expect(named.stdout).toBe(`Removed ${inB}.\n`);
  });

  it("puts back one change after the other, and says when none is left", async () => {
    verifies("CODE-6", "CLI-7");
    const place = await bundle.place();
    await place.write("a.txt", "first\n");
    await write(place, "a.txt", "second\n");
    await write(place, "new.txt", "new\n");
    await write(place, "a.txt", "third\n");
    const asked = await place.run(["undo"]);
    expect(asked).toMatchObject({ code: 3, stdout: "" });
    expect(asked.stderr).toContain("--yes");
    // What it would do, the other way round than the call did it.
    expect(asked.stderr).toMatch(/^-third\n\+second$/m);
    expect(await place.read("a.txt")).toBe("third\n");
    const undo = (): Promise<Ended> => place.run(["undo", "--yes"]);
    expect(await undo()).toMatchObject({ code: 0, stderr: "" });
    expect(await place.read("a.txt")).toBe("second\n");
    expect((await undo()).stdout).toContain("Removed");
    expect(existsSync(join(place.project, "new.txt"))).toBe(false);
    expect((await undo()).code).toBe(0);
    expect(await place.read("a.txt")).toBe("first\n");
    const none = await undo();
    expect(none).toMatchObject({ code: 1, stdout: "" });
    expect(none.stderr).toContain("left to undo");
    const open = await loadSqlite();
    const database = open(join(place.home, "store", "soong.db"), { readOnly: true });
    const lines = database
      .prepare(`SELECT line FROM facts WHERE line LIKE '%"change.undone"%'`)
      .all() as { line: string }[];
    database.close();
    expect(lines.map(({ line }) => JSON.parse(line) as unknown)).toMatchObject([
      { tool_name: "code.write_file", data: { restored: "content" } },
      { data: { restored: "removed", path: join(place.project, "new.txt") } },
      { data: { restored: "content", path: join(place.project, "a.txt") } },
    ]);
    expect((await place.run(["verify", "--all"])).code).toBe(0);
  });

  it("leaves alone what was changed since, and takes back the call that is named", async () => {
    verifies("CODE-6");
    const place = await bundle.place();
    const other = await write(place, "b.txt", "b\n");
    await write(place, "a.txt", "mine\n");
    await place.write("a.txt", "somebody else's\n");
    const refused = await place.run(["undo", "--yes"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/a\.txt has changed since/);
    expect(await place.read("a.txt")).toBe("somebody else's\n");
    const { tool_call_id } = other;
    const { loadConfig, openRuntime } = await bundle.modules();
    const config = await loadConfig({ home: place.home });
    const runtime = await openRuntime({ env: {}, cwd: place.project, config });
    await runtime.openSession({ resume: other.session_id });
    const inUse = await place.run(["undo", tool_call_id, "--yes"]);
    await runtime.close();
    expect(inUse).toMatchObject({ code: 1, stdout: "" });
    expect(inUse.stderr).toContain("is in use");
    expect(await place.read("b.txt")).toBe("b\n");
    const few = await place.run(["undo", "call_", "--yes"]);
    expect(few).toMatchObject({ code: 2, stdout: "" });
    expect(few.stderr).toMatch(/begins the ids of 2 calls[^]*code\.write_file \S+b\.txt/);
    const short = tool_call_id.slice("call_".length);
    const named = await place.run(["undo", short, "--yes", "--json"]);
    expect(recordsOf(named)).toMatchObject([
      { schema: "soong.undo/1", tool_call_id, restored: "removed" },
    ]);
    expect(await readdir(place.project)).toEqual(["a.txt"]);
    // From another project nothing is found.
    await mkdir(join(place.project, "elsewhere"));
    const cwd = join(place.project, "elsewhere");
    expect((await place.run(["undo", "--yes"], { cwd })).stderr).toContain("left to undo");
  });
});

describe("the home", () => {
  it("gets a config once, and the doctor looks at all of it", async () => {
    verifies("CONF-2", "CLI-5");
    const place = await bundle.place();
    expect((await place.run(["init"])).code).toBe(0);
    const config = join(place.home, "config.toml");
    expect((await stat(config)).mode & 0o777).toBe(0o600);
    expect((await stat(place.home)).mode & 0o777).toBe(0o700);
    const well = await place.run(["doctor", "--json"]);
    expect(well.code).toBe(0);
    const abouts = recordsOf(well).map(({ about }) => about);
    const parts = ["node", "home", "config", "store", "ripgrep", "tools", "hooks", "model keys"];
    expect(abouts).toEqual(expect.arrayContaining(parts));
    await writeFile(config, "[modle]\n");
    const again = await place.run(["init"]);
    expect(again).toMatchObject({ code: 0 });
    expect(await place.read(config)).toBe("[modle]\n");
    await place.write(join(place.home, "tools", "bad.json"), "{");
    const ill = await place.run(["doctor"]);
    expect(ill.code).toBe(1);
    expect(ill.stdout).toMatch(/^fail +config +.*config\.toml:1/m);
    expect(ill.stdout).toMatch(/^fail +tools +.*bad\.json:1/m);
    expect(ill.stdout).toMatch(/^ok +hooks/m);
  });

  it("with a declared tool whose name is taken says where, to the doctor and to a check", async () => {
    verifies("DECL-7");
    const place = await bundle.place();
    const file = join(place.home, "tools", "mine.json");
    const tool = { name: "code.read_file", description: "d", input_schema: { type: "object" } };
    const command = { command_type: "exec", command: "/bin/true" };
    await place.write(file, JSON.stringify({ ...tool, ...command }, null, 2));
    const [check, doctor] = await Promise.all([
      place.run(["tools", "check", file]),
      place.run(["doctor"]),
    ]);
    const taken = /mine\.json:2:\d+: name: "code\.read_file" is taken by a built-in tool/;
    expect(check).toMatchObject({ code: 1, stdout: expect.stringMatching(taken) as string });
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(taken) as string });
  });

  it("that cannot be used stops everything with a sentence", async () => {
    verifies("CLI-6");
    const place = await bundle.place();
    await place.write(place.home, "a file, not a directory");
    const [call, sessions, init, doctor] = await Promise.all([
      place.run(["call", "code.list_dir"]),
      place.run(["sessions"]),
      place.run(["init"]),
      place.run(["doctor"]),
    ]);
    for (const { code, stdout, stderr } of [call, init]) {
      expect([code !== 0, stdout]).toEqual([true, ""]);
      expect(stderr).toContain(place.home);
      expect(stderr).not.toMatch(/itself failed|\n {4}at /);
    }
    expect(sessions.stdout).toBe("");
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/^fail +home +.*is not a directory/m);
  });

  it("says what a runtime is made of", async () => {
    verifies("CONF-3", "PERM-14");
    const place = await bundle.place();
    const shared = join(dirname(place.project), "shared");
    await place.write(
      join(place.home, "config.toml"),
      [
        "[tools]",
        `write_roots = ["${shared}", "~/elsewhere"]`,
        'sensitive_paths = ["*.private"]',
        "inline_limit_bytes = 4096",
        "[tools.overrides]",
        '"code.run_command" = { timeout_ms = 1234 }',
        "",
      ].join("\n"),
    );
    const { loadConfig, openRuntime } = await bundle.modules();
    const config = await loadConfig({ home: place.home });
    const flags = { deny: ["code.search"] };
    const runtime = await openRuntime({ env: {}, cwd: place.project, config, flags });
    expect(runtime.roots).toEqual({
      project: place.project,
      write: [shared, join(await realpath(homedir()), "elsewhere")],
    });
    expect(runtime.policy).toMatchObject({
      rules: [{ tool: "code.search", decision: "deny", origin: { flag: "--deny code.search" } }],
      sensitive_paths: ["*.private"],
      protected_roots: [place.home, join(userInfo().homedir, ".soong-agent", "locks")],
      case_insensitive_paths: expect.any(Boolean) as boolean,
    });
    expect(runtime.kernel.config.tools.inline_limit_bytes).toBe(4096);
    const command = runtime.kernel.registry.current("code.run_command");
    expect(command?.definition.timeout_ms).toBe(1234);
    await runtime.close();
    expect(existsSync(join(place.home, "store"))).toBe(false);
  });
});
