// Who belongs to a command, on tables of processes that no real system shows on demand.

import { beforeEach, describe, expect, test, vi } from "vitest";
import { createFamily } from "./family.ts";
import type { ProcessEntry } from "./process-table.ts";

const system = vi.hoisted(() => ({
  entries: [] as ProcessEntry[],
  hasGaps: false,
  newest: [] as (number | undefined)[],
  ranges: [] as unknown[],
  environmentsRead: 0,
}));
vi.mock("./process-table.ts", () => ({
  processTable(range: unknown) {
    system.ranges.push(range);
    return { entries: system.entries, hasGaps: system.hasGaps };
  },
  newestPid: () => (system.newest.length > 1 ? system.newest.shift() : system.newest[0]),
}));

const LEADER = 500;
const MARKER = { value: "token.1;", bytes: Buffer.from("token.1;") };

function entry(
  pid: number,
  facts: Partial<ProcessEntry> & { environment?: string } = {},
): ProcessEntry {
  const { environment = "PATH=/bin", ...rest } = facts;
  return {
    pid,
    parent: 1,
    group: pid,
    session: pid,
    ended: false,
    environmentHolds(text) {
      system.environmentsRead += 1;
      return environment === "" ? "unknown" : environment.includes(text.toString());
    },
    ...rest,
  };
}

function seen(family = createFamily(LEADER, MARKER)) {
  const { alive, undecided } = family.look();
  return { alive: alive.map(({ pid }) => pid), undecided };
}

beforeEach(() => {
  Object.assign(system, {
    entries: [],
    hasGaps: false,
    newest: [900],
    ranges: [],
    environmentsRead: 0,
  });
});

describe("to a command belong", () => {
  test("its group, its session, every process with its marker, and the children of all these", () => {
    system.entries = [
      entry(LEADER),
      entry(501, { group: LEADER, session: LEADER }),
      entry(502, { session: LEADER }),
      entry(503, { environment: "SOONG_PROCESS=token.1;" }),
      // Before its parent in the table.
      entry(504, { parent: 505 }),
      entry(505, { parent: 503 }),
      entry(506),
      entry(507, { environment: "SOONG_PROCESS=token.12;" }),
    ];
    const { alive, undecided } = createFamily(LEADER, MARKER).look();
    expect(alive).toEqual([
      { pid: LEADER, isInGroup: true },
      { pid: 501, isInGroup: true },
      { pid: 502, isInGroup: false },
      { pid: 503, isInGroup: false },
      { pid: 504, isInGroup: false },
      { pid: 505, isInGroup: false },
    ]);
    expect(undecided).toBe(false);
  });

  test("no zombies", () => {
    system.entries = [entry(501, { group: LEADER, ended: true })];
    expect(seen().alive).toEqual([]);
  });

  test("no group or session of a process that got its number after it was reaped", () => {
    const family = createFamily(LEADER, MARKER);
    system.entries = [
      entry(LEADER),
      entry(501, { group: LEADER, session: LEADER }),
      entry(502, { environment: "token.1;" }),
    ];
    expect(seen(family).alive).toEqual([LEADER, 501, 502]);
    family.leaderReaped();
    expect(seen(family).alive).toEqual([502]);
    // While its own members hold the number, no one can get it.
    system.entries = [entry(501, { group: LEADER, session: LEADER })];
    expect(seen(family).alive).toEqual([501]);
  });

  test("its group by name only, where no table can be read", () => {
    const kill = vi.spyOn(process, "kill").mockReturnValue(true);
    expect(createFamily(LEADER, MARKER).look().alive).toEqual([{ pid: LEADER, isInGroup: true }]);
    expect(kill).toHaveBeenLastCalledWith(-LEADER, 0);
    kill.mockImplementation(() => {
      throw new Error("ESRCH");
    });
    expect(seen().alive).toEqual([]);
    kill.mockRestore();
  });
});

describe("a look is undecided", () => {
  test("while a process shows no environment", () => {
    const family = createFamily(LEADER, MARKER);
    system.entries = [entry(501, { environment: "" })];
    expect(seen(family)).toEqual({ alive: [], undecided: true });
    system.entries = [entry(501, { environment: "token.1;" })];
    expect(seen(family)).toEqual({ alive: [501], undecided: false });
  });

  test("when some went meanwhile and others came", () => {
    system.hasGaps = true;
    system.newest = [900, 901];
    expect(seen().undecided).toBe(true);
    system.newest = [900, 900];
    expect(seen().undecided).toBe(false);
    system.newest = [undefined];
    expect(seen().undecided).toBe(true);
  });

  test("when a process has just ended, but not because of an old zombie", () => {
    const family = createFamily(LEADER, MARKER);
    system.entries = [entry(501, { ended: true })];
    system.newest = [900, 901, 902, 903];
    expect(seen(family).undecided).toBe(true);
    expect(seen(family).undecided).toBe(false);
  });
});

describe("a look is cheap", () => {
  test("because unrelated processes are checked for the marker once", () => {
    const family = createFamily(LEADER, MARKER);
    system.entries = [entry(501), entry(502)];
    seen(family);
    seen(family);
    expect(system.environmentsRead).toBe(2);
  });

  test("because only pids since the command's own are looked at, unless it ran for long", () => {
    const clock = vi.spyOn(performance, "now").mockReturnValue(0);
    const family = createFamily(LEADER, MARKER);
    seen(family);
    clock.mockReturnValue(60_000);
    seen(family);
    clock.mockRestore();
    expect(system.ranges).toEqual([{ from: LEADER }, "all"]);
  });
});

test("a signal reaches the group at once, and all others one by one", () => {
  const sent: unknown[] = [];
  const kill = vi.spyOn(process, "kill").mockImplementation((...args) => {
    sent.push(args);
    // Someone who has gone must not keep the others from getting it.
    if (args[0] === 502) throw new Error("ESRCH");
    return true;
  });
  const family = createFamily(LEADER, MARKER);
  const members = [
    { pid: LEADER, isInGroup: true },
    { pid: 501, isInGroup: true },
    { pid: 502, isInGroup: false },
    { pid: 503, isInGroup: false },
  ];
  family.signal("SIGTERM", members, "at_a_stroke");
  family.signal("SIGKILL", members.slice(2), "at_a_stroke");
  family.signal("SIGCONT", members.slice(1, 3), "one_by_one");
  kill.mockRestore();
  expect(sent).toEqual([
    [-LEADER, "SIGTERM"],
    [502, "SIGTERM"],
    [503, "SIGTERM"],
    [502, "SIGKILL"],
    [503, "SIGKILL"],
    [501, "SIGCONT"],
    [502, "SIGCONT"],
  ]);
});

test("the monitor of a sandbox and the first process inside are not asked, and killed with all others", () => {
  const sent: unknown[] = [];
  const kill = vi.spyOn(process, "kill").mockImplementation((...args) => {
    sent.push(args);
    return true;
  });
  system.entries = [
    entry(LEADER),
    entry(501, { parent: LEADER, group: 501, session: 501 }),
    entry(502, { parent: 501, group: 501, session: 501 }),
    // Its environment is gone, and its parents, but for the first process.
    entry(503, { parent: 501 }),
  ];
  const family = createFamily(LEADER, MARKER, "monitor");
  const { alive } = family.look();
  expect(alive.map(({ pid }) => pid)).toEqual([LEADER, 501, 502, 503]);
  family.signal("SIGTERM", alive, "at_a_stroke");
  family.signal("SIGTERM", alive, "one_by_one");
  family.signal("SIGKILL", alive, "at_a_stroke");
  kill.mockRestore();
  expect(sent).toEqual([
    // That of the first process, which takes no such signal from outside.
    [-501, "SIGTERM"],
    [503, "SIGTERM"],
    [502, "SIGTERM"],
    [503, "SIGTERM"],
    [-501, "SIGKILL"],
    [LEADER, "SIGKILL"],
    [503, "SIGKILL"],
  ]);
});
