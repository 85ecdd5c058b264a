import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { Fact } from "@soong/core";
import { StoreError, type CrashPoint } from "../contract/store-error.ts";
import { openRunFolders } from "./run-folders.ts";
import type { CommittedFact, ReadFacts } from "./line-file.ts";

const FILES = ["events.jsonl", "logs/tools.jsonl", "logs/errors.jsonl"];
const NOBODY = 65_534;

let base: string;
let directory: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "soong-folder-"));
  directory = join(base, "home", "runs");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("the folder of a run", () => {
  test("has its facts, its calls and its errors in files, and space for what a run makes", () => {
    verifies("EVENT-5");
    const folders = openRunFolders({ directory });
    const facts = [
      committed(1, { type: "run.started" }),
      committed(2, { type: "session.created", run_id: undefined }),
      ended(3, { artifacts: [{ artifact_id: "art_1" }, { artifact_id: "art_2" }] }),
      committed(4, { run_id: "other", type: "run.started" }),
      ended(5, { status: "unknown", is_error: true, error: { code: "lost", message: "Was it?" } }),
      committed(6, { type: "error", level: "error", data: { code: "c", message: "m" } }),
    ];
    folders.append(facts);
    const path = folders.pathOf("run_1");
    expect(path).toBe(join(directory, "run_1"));
    expect(readdirSync(path).toSorted()).toEqual([
      "archive",
      "deliverables",
      "events.jsonl",
      "logs",
      "workspace",
    ]);
    const own = [facts[0], facts[2], facts[4], facts[5]];
    expect(text(path, "events.jsonl")).toBe(own.map((one) => `${one?.line}\n`).join(""));
    const call = { tool_call_id: "call_1", tool_name: "core.bash", duration_ms: 12 };
    expect(lines(path, "logs/tools.jsonl")).toEqual([
      {
        seq: 3,
        time: "t3",
        ...call,
        status: "succeeded",
        summary: "done",
        is_error: false,
        artifacts: ["art_1", "art_2"],
      },
      { seq: 5, time: "t5", ...call, status: "unknown", summary: "done", is_error: true },
    ]);
    const { duration_ms: _ms, ...ids } = call;
    expect(lines(path, "logs/errors.jsonl")).toEqual([
      { seq: 5, time: "t5", type: "tool.failed", ...ids, code: "lost", message: "Was it?" },
      { seq: 6, time: "t6", type: "error", code: "c", message: "m" },
    ]);
    expect(lines(folders.pathOf("other"), "events.jsonl")).toHaveLength(1);
    expect(readdirSync(directory).toSorted()).toEqual(["other", "run_1"]);
    expect(folders.problems()).toEqual([]);
    folders.close();
  });

  test("is readable by its owner alone, no matter what was there before", () => {
    verifies("EVENT-5");
    mkdirSync(join(directory, "run_1", "logs"), { recursive: true, mode: 0o755 });
    for (const wide of ["", "run_1", "run_1/logs"]) chmodSync(join(directory, wide), 0o755);
    writeFileSync(join(directory, "run_1/events.jsonl"), "", { mode: 0o644 });
    const folders = openRunFolders({ directory });
    folders.append([committed(1), committed(2, { run_id: "run_2" })]);
    for (const run of ["run_1", "run_2"]) {
      const modes = ["", "logs", "workspace", "deliverables", "archive"].map((name) =>
        modeOf(join(directory, run, name)),
      );
      expect(modes).toEqual([0o700, 0o700, 0o700, 0o700, 0o700]);
      expect(FILES.map((name) => modeOf(join(directory, run, name)))).toEqual([
        0o600, 0o600, 0o600,
      ]);
    }
    expect(modeOf(directory)).toBe(0o700);
    folders.close();
  });

  test("is written at labelled instants, once a batch, and not for facts without a run", () => {
    const points: CrashPoint[] = [];
    let sizes: number[] = [];
    const folders = openRunFolders({
      directory,
      at(point) {
        points.push(point);
        const path = join(directory, "run_1");
        if (point !== "folder.before") sizes = FILES.map((name) => text(path, name).length);
        if (point === "folder.events")
          expect(sizes.map((size) => size > 0)).toEqual([true, false, false]);
      },
    });
    folders.append([]);
    folders.append([committed(1, { run_id: undefined })]);
    expect(points).toEqual([]);
    folders.append([committed(2), ended(3, { is_error: true }), committed(4)]);
    expect(points).toEqual(["folder.before", "folder.events", "folder.after"]);
    expect(sizes.every((size) => size > 0)).toBe(true);
    folders.close();
  });

  test("takes facts twice without writing them twice", () => {
    const folders = openRunFolders({ directory });
    const facts = [committed(1), ended(2, { is_error: true }), committed(3)];
    folders.append(facts.slice(0, 2));
    folders.append(facts);
    folders.append(facts);
    expect(lines(folders.pathOf("run_1"), "events.jsonl").map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(lines(folders.pathOf("run_1"), "logs/tools.jsonl")).toHaveLength(1);
    expect(lines(folders.pathOf("run_1"), "logs/errors.jsonl")).toHaveLength(1);
    folders.close();
  });

  test("holds few files open however many runs there are, and none of a run that has ended", () => {
    verifies("EVENT-5");
    const folders = openRunFolders({ directory });
    const runs = Array.from({ length: 40 }, (_, i) => `run_${i}`);
    for (const round of [0, 1]) {
      folders.append(runs.map((run_id, i) => committed(round * 100 + i + 1, { run_id })));
      expect(filesHeld().length).toBe(32 * 3);
    }
    for (const run_id of runs) {
      expect(lines(folders.pathOf(run_id), "events.jsonl")).toHaveLength(2);
    }
    const types = ["run.completed", "run.failed", "run.aborted"] as const;
    types.forEach((type, i) =>
      folders.append([committed(300 + i, { run_id: `run_${39 - i}`, type })]),
    );
    expect(filesHeld().length).toBe(29 * 3);
    folders.append([committed(310, { run_id: "run_39", type: "tool.late" })]);
    expect(lines(folders.pathOf("run_39"), "events.jsonl")).toHaveLength(4);
    folders.close();
    expect(filesHeld()).toEqual([]);
    folders.append([committed(400, { run_id: "late" })]);
    expect(filesHeld()).toEqual([]);
    expect(existsSync(folders.pathOf("late"))).toBe(false);
    expect(folders.problems()).toEqual([]);
  });

  test("lets go first of the folder that was not used for longest", () => {
    const folders = openRunFolders({ directory });
    const runs = Array.from({ length: 32 }, (_, i) => `run_${i}`);
    for (const [i, run_id] of [...runs, "run_0", "one_more"].entries()) {
      folders.append([committed(i + 1, { run_id })]);
    }
    const held = filesHeld().filter((path) => path.endsWith("events.jsonl"));
    expect(held.toSorted()).toEqual(
      ["run_0", ...runs.slice(2), "one_more"]
        .map((run_id) => join(folders.pathOf(run_id), "events.jsonl"))
        .toSorted(),
    );
    folders.close();
  });
});

describe("a folder that cannot be written", () => {
  test("is named and left as it is, and the others continue", () => {
    verifies("EVENT-5");
    mkdirSync(join(directory, "taken", "events.jsonl"), { recursive: true });
    mkdirSync(join(directory, "taken-log", "logs", "errors.jsonl"), { recursive: true });
    writeFileSync(join(directory, "file"), "mine");
    const folders = openRunFolders({ directory });
    const facts = ["taken", "file", "good", "taken-log"].map((run_id, i) =>
      committed(i + 1, { run_id }),
    );
    folders.append(facts);
    folders.append([committed(9, { run_id: "file" })]);
    expect(folders.problems().map(({ run_id }) => run_id)).toEqual(["taken", "file", "taken-log"]);
    expect(folders.problems()[1]?.message).toBe(
      `The run folder ${join(directory, "file")} cannot be written: ${join(directory, "file")} is not a directory. ` +
        "The journal is not affected. Put that right, then rebuild it.",
    );
    expect(readFileSync(join(directory, "file"), "utf8")).toBe("mine");
    expect(lines(folders.pathOf("good"), "events.jsonl")).toHaveLength(1);
    for (const run_id of ["taken", "file", "taken-log"]) {
      expect(() => folders.catchUp(run_id, from(facts))).not.toThrow();
      expect(() => folders.rebuild(run_id, from(facts))).toThrow(StoreError);
    }
    expect(filesHeld()).toHaveLength(3);
    rmSync(join(directory, "file"));
    folders.catchUp("file", from([committed(2, { run_id: "file" })]));
    expect(folders.problems().map(({ run_id }) => run_id)).toEqual(["taken", "taken-log"]);
    folders.append([committed(9, { run_id: "file" })]);
    expect(lines(folders.pathOf("file"), "events.jsonl")).toHaveLength(2);
    folders.close();
  });

  test("is named when there can be no directory for runs at all", () => {
    mkdirSync(dirname(directory), { recursive: true });
    writeFileSync(directory, "a file");
    const folders = openRunFolders({ directory });
    folders.append([committed(1)]);
    expect(folders.problems()).toMatchObject([{ run_id: "run_1" }]);
    rmSync(directory);
    folders.catchUp("run_1", from([committed(1)]));
    expect(folders.problems()).toEqual([]);
    folders.close();
  });

  test("is named for want of rights, with the code that says so", () => {
    const folders = openRunFolders({ directory });
    asOrdinaryUser(() => {
      chmodSync(directory, 0o500);
      folders.append([committed(1)]);
      expect(folders.problems()).toMatchObject([
        { run_id: "run_1", message: expect.stringContaining("EACCES") as string },
      ]);
      expect(() => folders.rebuild("run_1", from([committed(1)]))).toThrow(
        expect.objectContaining({ code: "store_read_only" }),
      );
      chmodSync(directory, 0o700);
    });
    folders.close();
  });

  test("is not continued when lines of it are missing, torn or foreign", () => {
    verifies("EVENT-5");
    const folders = openRunFolders({ directory });
    const spoil: Record<string, (path: string) => void> = {
      gone: (path) => rmSync(path, { recursive: true }),
      cut: (path) => truncateSync(join(path, "events.jsonl"), 0),
      torn: (path) => truncateSync(join(path, "events.jsonl"), 5),
      foreign: (path) => appendFileSync(join(path, "logs/tools.jsonl"), "note to self\n"),
      replaced: (path) => {
        writeFileSync(join(path, "new"), "");
        renameSync(join(path, "new"), join(path, "logs/errors.jsonl"));
      },
    };
    for (const [run_id, damage] of Object.entries(spoil)) {
      const facts = [1, 2].map((seq) => ended(seq, { is_error: true }, run_id));
      folders.append(facts.slice(0, 1));
      damage(folders.pathOf(run_id));
      folders.append(facts.slice(1));
      expect(folders.problems().map((problem) => problem.run_id)).toEqual([run_id]);
      folders.catchUp(run_id, from(facts));
      expect(folders.problems()).toEqual([]);
      expect(FILES.map((name) => lines(folders.pathOf(run_id), name).length)).toEqual([2, 2, 2]);
    }
    folders.close();
  });

  test("that another process has rebuilt meanwhile is continued where that one ended", () => {
    const [mine, another] = [openRunFolders({ directory }), openRunFolders({ directory })];
    const facts = [committed(1), ended(2, { is_error: true }), committed(3), committed(4)];
    mine.append(facts.slice(0, 2));
    another.rebuild("run_1", from(facts.slice(0, 3)));
    mine.append(facts.slice(2));
    expect(mine.problems()).toEqual([]);
    expect(lines(mine.pathOf("run_1"), "events.jsonl").map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    mine.close();
    another.close();
  });
});

describe("a run id from somewhere", () => {
  const hostile = [
    "",
    ".",
    "..",
    "../x",
    "../../etc/passwd",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "a\0b",
    "a\nb",
    "-rf",
    ".hidden",
    "~",
    "Run",
    "RUN",
    "con",
    "nul.txt",
    "com1",
    "dot.",
    "a b",
    "ä",
    "a\u0308",
    "\ud800",
    "\udfff",
    "x".repeat(101),
    "x".repeat(102),
    "x".repeat(100_000),
    "run~00000000000000000000000000000000",
  ];

  test("never leads out of the directory nor into the folder of another", () => {
    verifies("EVENT-5");
    const folders = openRunFolders({ directory });
    const plain = ["run", "run_1", "a.b-c", "x".repeat(100), "0", "console", "com10x"];
    const paths = [...hostile, ...plain].map((run_id) => folders.pathOf(run_id));
    for (const path of paths) {
      expect(dirname(path)).toBe(directory);
      expect(path.slice(directory.length + 1)).toMatch(/^[a-z0-9][a-z0-9._~-]{0,99}(?<!\.)$/);
    }
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(paths.length);
    for (const run_id of plain) expect(folders.pathOf(run_id)).toBe(join(directory, run_id));
    for (const run_id of hostile) expect(folders.pathOf(run_id)).not.toBe(join(directory, run_id));
    const names = hostile.map((run_id) => folders.pathOf(run_id));
    for (const name of names)
      expect(folders.pathOf(name.slice(directory.length + 1))).not.toBe(name);
    folders.close();
  });

  test("has its facts in a folder of its own", () => {
    const folders = openRunFolders({ directory });
    hostile.forEach((run_id, i) => folders.append([committed(i + 1, { run_id })]));
    expect(folders.problems()).toEqual([]);
    hostile.forEach((run_id, i) => {
      const [fact] = lines(folders.pathOf(run_id), "events.jsonl");
      expect(fact).toMatchObject({ seq: i + 1, run_id });
    });
    for (const run_id of hostile) folders.remove(run_id);
    expect(readdirSync(directory)).toEqual([]);
    expect(readdirSync(dirname(directory))).toEqual(["runs"]);
    folders.close();
  });
});

describe("a link planted in the directory of runs", () => {
  test.each(["", "logs", ...FILES])("at the folder's %j is not followed", (planted) => {
    verifies("EVENT-5");
    const outside = join(base, "outside");
    mkdirSync(join(outside, "logs"), { recursive: true });
    for (const name of FILES) writeFileSync(join(outside, name), "");
    const link = join(directory, "run_1", planted);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(outside, planted), link);
    const folders = openRunFolders({ directory });
    const facts = [ended(1, { is_error: true }), committed(2)];
    folders.append(facts);
    folders.catchUp("run_1", from(facts));
    expect(() => folders.rebuild("run_1", from(facts))).toThrow(/symbolic link/);
    expect(folders.problems()).toHaveLength(1);
    expect(FILES.map((name) => text(outside, name))).toEqual(["", "", ""]);
    expect(readdirSync(outside).toSorted()).toEqual(["events.jsonl", "logs"]);
    expect(readdirSync(join(outside, "logs"))).toHaveLength(2);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    folders.remove("run_1");
    expect(existsSync(folders.pathOf("run_1"))).toBe(false);
    expect(existsSync(join(outside, "logs/tools.jsonl"))).toBe(true);
    folders.close();
  });

  test("to a place where nothing is yet makes nothing there", () => {
    const outside = join(base, "outside");
    mkdirSync(join(directory, "run_1", "logs"), { recursive: true });
    symlinkSync(outside, join(directory, "run_1/events.jsonl"));
    symlinkSync(outside, join(directory, "run_2"));
    const folders = openRunFolders({ directory });
    folders.append([committed(1), committed(2, { run_id: "run_2" })]);
    expect(folders.problems()).toHaveLength(2);
    expect(existsSync(outside)).toBe(false);
    folders.close();
  });

  test("in the place of a workspace is left unchanged, for nothing of ours goes there", () => {
    mkdirSync(join(directory, "run_1"), { recursive: true });
    symlinkSync(base, join(directory, "run_1/workspace"));
    const folders = openRunFolders({ directory });
    folders.append([committed(1)]);
    expect(folders.problems()).toEqual([]);
    folders.remove("run_1");
    expect(existsSync(base)).toBe(true);
    folders.close();
  });

  test("or a pipe in a file's place neither hangs nor is written", () => {
    for (const name of FILES) {
      const run_id = name.replace("logs/", "").replace(".jsonl", "");
      const pipe = join(directory, run_id, name);
      mkdirSync(dirname(pipe), { recursive: true });
      execFileSync("mkfifo", [pipe]);
    }
    const folders = openRunFolders({ directory });
    folders.append(["events", "tools", "errors"].map((run_id, i) => committed(i + 1, { run_id })));
    expect(folders.problems().map(({ message }) => message)).toEqual([
      expect.stringContaining("events.jsonl is not a file"),
      expect.stringContaining("tools.jsonl is not a file"),
      expect.stringContaining("errors.jsonl is not a file"),
    ]);
    folders.close();
  });
});

describe("rebuilding a folder", () => {
  test("writes it as it was written, keeps what others put there, and clears old leavings", () => {
    verifies("EVENT-5");
    const folders = openRunFolders({ directory });
    const facts = [committed(1), ended(2, { is_error: true }), ended(3), committed(4)];
    folders.append(facts);
    const path = folders.pathOf("run_1");
    const before = FILES.map((name) => text(path, name));
    for (const name of ["workspace", "deliverables", "archive"]) {
      writeFileSync(join(path, name, "mine.txt"), name);
    }
    for (const name of FILES) writeFileSync(join(path, name), '{"seq":77}\n');
    writeFileSync(join(path, `logs/.events.jsonl.${process.pid}.new`), "half");
    writeFileSync(join(path, `logs/.events.jsonl.${process.ppid}.new`), "another at work");
    writeFileSync(join(path, `logs/.tools.jsonl.${deadPid()}.new`), "half");
    expect(folders.rebuild("run_1", from(facts))).toBe(path);
    expect(FILES.map((name) => text(path, name))).toEqual(before);
    expect(FILES.map((name) => modeOf(join(path, name)))).toEqual([0o600, 0o600, 0o600]);
    for (const name of ["workspace", "deliverables", "archive"]) {
      expect(text(path, `${name}/mine.txt`)).toBe(name);
    }
    expect(readdirSync(join(path, "logs")).toSorted()).toEqual([
      `.events.jsonl.${process.ppid}.new`,
      "errors.jsonl",
      "tools.jsonl",
    ]);
    folders.append([committed(5)]);
    expect(lines(path, "events.jsonl").at(-1)).toMatchObject({ seq: 5 });
    folders.close();
  });

  test("forgets how far the old logs were whole", () => {
    const folders = openRunFolders({ directory });
    const facts = [ended(1, { is_error: true }), committed(2), committed(3)];
    folders.append(facts);
    const path = folders.pathOf("run_1");
    const checkpoint = { seq: 1000, tools_bytes: 0, errors_bytes: 0 };
    writeFileSync(join(path, "logs/.checkpoint"), JSON.stringify(checkpoint));
    folders.rebuild("run_1", from(facts));
    truncateSync(join(path, "logs/errors.jsonl"), 0);
    folders.catchUp("run_1", from(facts));
    expect(lines(path, "logs/errors.jsonl")).toHaveLength(1);
    folders.close();
  });

  test("that fails half way leaves the old files and nothing else", () => {
    const folders = openRunFolders({ directory });
    const facts = [committed(1), committed(2), committed(3)];
    folders.append(facts.slice(0, 2));
    const path = folders.pathOf("run_1");
    const before = text(path, "events.jsonl");
    const broken: ReadFacts = (after) => {
      if (after > 1) throw new Error("the store is gone");
      return from(facts, 1)(after);
    };
    expect(() => folders.rebuild("run_1", broken)).toThrow(/rebuilt: the store is gone\. /);
    expect(text(path, "events.jsonl")).toBe(before);
    expect(readdirSync(join(path, "logs")).toSorted()).toEqual(["errors.jsonl", "tools.jsonl"]);
    expect(filesHeld()).toEqual([]);
    folders.close();
  });

  test("ends when it is given the same page again and again", () => {
    const folders = openRunFolders({ directory });
    const stuck: ReadFacts = () => [committed(1)];
    expect(() => folders.rebuild("run_1", stuck)).toThrow(/the facts after 1 end at 1/);
    folders.catchUp("run_1", stuck);
    expect(folders.problems()).toHaveLength(1);
    folders.close();
  });
});

describe("catching up", () => {
  test("writes a damaged folder anew, wherever the damage shows", () => {
    verifies("EVENT-5");
    const facts = [committed(1), ended(2, { is_error: true }), committed(3), ended(4)];
    const folders = openRunFolders({ directory });
    const path = folders.rebuild("run_1", from(facts));
    const whole = FILES.map((name) => text(path, name));
    const garbage = [
      "\0\0\0\0\n",
      "\n",
      "null\n",
      "[]\n",
      '{"seq":0}\n',
      '{"seq":"4"}\n',
      '{"seq":4}\n',
      '{"seq":3}\n',
      '{"seq":99}\n',
      "not json\n",
    ];
    for (const [i, name] of FILES.entries()) {
      for (const end of garbage) {
        appendFileSync(join(path, name), end);
        folders.catchUp("run_1", from(facts));
        expect(text(path, name)).toBe(whole[i]);
      }
    }
    expect(folders.problems()).toEqual([]);
    folders.close();
  });

  test("makes a folder that is not there, and its missing parts", () => {
    const facts = [committed(1), ended(2, { is_error: true })];
    const folders = openRunFolders({ directory });
    folders.catchUp("run_1", from(facts));
    const path = folders.pathOf("run_1");
    const whole = FILES.map((name) => text(path, name));
    expect(lines(path, "logs/errors.jsonl")).toHaveLength(1);
    for (const gone of ["logs", "events.jsonl", "workspace", "logs/errors.jsonl", ""]) {
      rmSync(join(path, gone), { recursive: true });
      folders.catchUp("run_1", from(facts));
      expect(FILES.map((name) => text(path, name))).toEqual(whole);
      expect(existsSync(join(path, "workspace"))).toBe(true);
    }
    expect(filesHeld()).toEqual([]);
    folders.close();
  });

  test("cuts a torn end of any length without writing the rest again", () => {
    const folders = openRunFolders({ directory });
    const facts = [1, 2, 3].map((seq) => ended(seq, { is_error: true }));
    const path = folders.rebuild("run_1", from(facts));
    const whole = text(path, "events.jsonl");
    const { ino } = statSync(join(path, "events.jsonl"));
    for (const length of [1, 4094, 4095, 4096, 4097, 16_383, 16_384, 100_000]) {
      appendFileSync(join(path, "events.jsonl"), "{".repeat(length));
      folders.catchUp("run_1", from(facts));
      expect(text(path, "events.jsonl")).toBe(whole);
      // A new one would have been put in its place.
      expect(statSync(join(path, "events.jsonl")).ino).toBe(ino);
    }
    folders.close();
  });

  test("looks at the end of a long file only", () => {
    verifies("EVENT-5");
    const folders = openRunFolders({ directory });
    const facts = [committed(1), committed(2, { data: { text: words(3000) } }), committed(3)];
    const path = folders.rebuild("run_1", from(facts.slice(0, 1)));
    // A hole of eight gigabytes, which no buffer could take, and then a whole line.
    const fd = openSync(join(path, "events.jsonl"), "r+");
    ftruncateSync(fd, 8 * 2 ** 30);
    closeSync(fd);
    appendFileSync(join(path, "events.jsonl"), `\n${facts[1]?.line}\n{"torn`);
    folders.catchUp("run_1", from(facts));
    expect(folders.problems()).toEqual([]);
    const size = 8 * 2 ** 30 + 1 + `${facts[1]?.line}\n${facts[2]?.line}\n`.length;
    expect(statSync(join(path, "events.jsonl")).size).toBe(size);
    folders.close();
  });

  test("of a long run asks for its last facts only, also when it never had an error", () => {
    verifies("EVENT-5");
    const folders = openRunFolders({ directory });
    const facts = Array.from({ length: 12_000 }, (_, i) =>
      i % 5000 === 0 ? ended(i + 1) : committed(i + 1, { data: { text: words(300) } }),
    );
    for (let i = 0; i < facts.length; i += 100) folders.append(facts.slice(i, i + 100));
    folders.close();
    const path = folders.pathOf("run_1");
    const whole = FILES.map((name) => text(path, name));
    truncateSync(join(path, "events.jsonl"), (whole[0]?.length ?? 0) - 1000);
    expect(factsReadToCatchUp()).toBeLessThan(3500);
    truncateSync(join(path, "logs/tools.jsonl"), 10);
    expect(factsReadToCatchUp()).toBeGreaterThan(11_000);
    rmSync(join(path, "logs/.checkpoint"));
    expect(factsReadToCatchUp()).toBeGreaterThan(11_000);
    writeFileSync(join(path, "logs/.checkpoint"), '{"seq":12');
    expect(factsReadToCatchUp()).toBeGreaterThan(11_000);
    folders.rebuild("run_1", from(facts));
    expect(factsReadToCatchUp()).toBeLessThan(1500);

    function factsReadToCatchUp(): number {
      let count = 0;
      openRunFolders({ directory }).catchUp("run_1", (after) => {
        const page = from(facts, 1000)(after);
        count += page.length;
        return page;
      });
      expect(FILES.map((name) => text(path, name) === whole[FILES.indexOf(name)])).toEqual([
        true,
        true,
        true,
      ]);
      return count;
    }
  });
});

describe("removing a folder", () => {
  test("takes all of it, also what a tool made read-only", () => {
    const folders = openRunFolders({ directory });
    folders.append([committed(1)]);
    const cache = join(folders.pathOf("run_1"), "workspace/cache/deep");
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, "file"), "");
    asOrdinaryUser(() => {
      for (const path of [cache, dirname(cache)]) chmodSync(path, 0o500);
      folders.remove("run_1");
    });
    expect(existsSync(folders.pathOf("run_1"))).toBe(false);
    expect(filesHeld()).toEqual([]);
    folders.remove("run_1");
    folders.append([committed(2)]);
    expect(lines(folders.pathOf("run_1"), "events.jsonl")).toHaveLength(1);
    folders.close();
  });

  test("says so when something has to stay", () => {
    const folders = openRunFolders({ directory });
    folders.append([committed(1)]);
    asOrdinaryUser(() => {
      chmodSync(directory, 0o500);
      expect(() => folders.remove("run_1")).toThrow(
        expect.objectContaining({
          name: "StoreError",
          message: expect.stringMatching(/cannot be removed: .*Remove it by hand\.$/) as string,
        }),
      );
      chmodSync(directory, 0o700);
    });
    folders.close();
  });
});

function committed(
  seq: number,
  about: { [K in keyof Fact]?: Fact[K] | undefined } = {},
): CommittedFact {
  const fact = {
    id: `f${seq}`,
    seq,
    type: "tool.progress",
    time: `t${seq}`,
    level: "info",
    session_id: "s",
    run_id: "run_1",
    data: {},
    ...about,
  } as Fact;
  return { fact, line: JSON.stringify(fact) };
}

function ended(seq: number, result: object = {}, run_id = "run_1"): CommittedFact {
  const whole = { status: "succeeded", is_error: false, summary: "done", artifacts: [], ...result };
  return committed(seq, {
    type: whole.is_error ? "tool.failed" : "tool.completed",
    run_id,
    tool_call_id: "call_1",
    tool_name: "core.bash",
    data: { result: { ...whole, metadata: { duration_ms: 12 } } },
  });
}

function from(facts: readonly CommittedFact[], limit = 100): ReadFacts {
  return (after) => {
    const start = facts.findIndex(({ fact }) => fact.seq > after);
    return start === -1 ? [] : facts.slice(start, start + limit);
  };
}

function words(chars: number): string {
  return "word ".repeat(chars / 5);
}

function text(path: string, name: string): string {
  return readFileSync(join(path, name), "utf8");
}

function lines(path: string, name: string): Record<string, unknown>[] {
  const all = text(path, name).split("\n");
  expect(all.pop()).toBe("");
  return all.map((line) => JSON.parse(line) as Record<string, unknown>);
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

/** The open files of this process that are below the test's directory. */
function filesHeld(): string[] {
  const held: string[] = [];
  for (let fd = 0; fd < 1024; fd += 1) {
    const inode = inodeOf(fd);
    if (inode !== undefined) held.push(inode);
  }
  const paths = new Map<string, string>();
  for (const entry of readdirSync(base, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { dev, ino } = lstatSync(path);
    paths.set(`${dev}:${ino}`, path);
  }
  return held.flatMap((inode) => paths.get(inode) ?? []);
}

function inodeOf(fd: number): string | undefined {
  try {
    const { dev, ino } = fstatSync(fd);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function deadPid(): number {
  return Number(execFileSync("sh", ["-c", "echo $$"], { encoding: "utf8" }));
}

/** Rights mean nothing to root: what the test made is given to someone whom they bind. */
function asOrdinaryUser(act: () => void): void {
  if (process.getuid?.() !== 0) return act();
  for (const entry of [base, ...readdirSync(base, { recursive: true, encoding: "utf8" })]) {
    chownSync(entry === base ? base : join(base, entry), NOBODY, NOBODY);
  }
  process.seteuid?.(NOBODY);
  try {
    act();
  } finally {
    process.seteuid?.(0);
  }
}
