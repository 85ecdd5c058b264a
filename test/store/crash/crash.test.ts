// The crash test: reads, writes and commands on the real store, killed with SIGKILL at every labelled instant and
// at random ones. After each, the session opens, what was durable is there, the chain holds, every call has
// one result and each write happened at most once. `npm run test:crash` does it at length.

import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifies } from "#laws";
import { CRASH_POINTS, openStore, type CrashPoint } from "@soong/store";
import { checkArtifacts, filesBelow } from "./check-home.ts";
import { TURN_NAMES, type CrashTask, type Instant, type TurnName } from "./crash-job.ts";
import { openCrashLane, type CrashLane } from "./crash-lane.ts";
import { crashLanes, type CrashLanes } from "./crash-lanes.ts";
import { nobodyWorksBelow } from "./leftover-processes.ts";
import { measureWork, planCrash, randomCrash } from "./random-crash.ts";
import { randomNumbers } from "./random-numbers.ts";
import { openRuntimes, type Runtimes } from "./runtime-process.ts";
import { instantsOf } from "./reported.ts";

const rounds = Number(process.env["SOONG_TEST_CRASH_ROUNDS"] ?? 10);
const isLong = process.env["SOONG_TEST_CRASH_ROUNDS"] !== undefined;
/** How often each labelled instant gets its turn. */
const repeats = isLong ? Math.ceil(rounds / 60) : 1;
const seed = Number(
  process.env["SOONG_TEST_SEED"] ?? (isLong ? Math.floor(Math.random() * 2 ** 31) : 20_260_101),
);
const timeout = isLong ? 3_600_000 : 120_000;

let runtimes: Runtimes;
let lanes: CrashLanes;
beforeAll(async () => {
  runtimes = await openRuntimes();
  lanes = crashLanes(runtimes, seed);
});
afterAll(() => runtimes.close(lanes.failed));

/** Each instant of work, with turns that come to it. */
const OF_WORK: Readonly<Partial<Record<Instant, readonly TurnName[]>>> = {
  "session.locked": [],
  "session.held": [],
  "entry.taken": TURN_NAMES,
  "commit.before": TURN_NAMES,
  "commit.written": TURN_NAMES,
  "commit.after": TURN_NAMES,
  "artifact.written": ["keeps", "commands"],
  "artifact.renamed": ["commands", "keeps"],
  "artifact.kept": ["keeps", "reads"],
  "folder.before": ["child", "changes"],
  "folder.events": ["questions", "child"],
  "folder.after": ["reads", "changes"],
  "effect.before": ["questions", "keeps"],
  "effect.after": ["streaming", "child"],
};

/** What opening a killed session comes to: as long as this is all, it is as it was. */
const BEFORE_RECOVERED: readonly CrashPoint[] = [
  "session.locked",
  "session.held",
  "recovery.before",
  "entry.taken",
  "commit.before",
  "commit.written",
];

/** And from then on it is recovered for good. */
const RECOVERED: readonly CrashPoint[] = [
  "commit.after",
  "folder.before",
  "folder.events",
  "folder.after",
  "recovery.after",
];

/** A store that is being made: what is left of one is tested where it is opened. */
const OF_MAKING: readonly CrashPoint[] = ["create.file", "create.wal", "create.tables"];

const OF_REMOVAL: readonly CrashPoint[] = ["remove.marked", "remove.files", "remove.after"];

test("the lists name every labelled instant", () => {
  const named = new Set([
    ...Object.keys(OF_WORK),
    ...BEFORE_RECOVERED,
    ...RECOVERED,
    ...OF_REMOVAL,
    ...OF_MAKING,
  ]);
  expect(CRASH_POINTS.filter((point) => !named.has(point))).toEqual([]);
});

test(
  "a runtime killed at a labelled instant of its work leaves a whole session that continues",
  async () => {
    verifies("STORE-3", "STORE-1", "PIPE-3", "RESULT-1", "EVENT-5", "EVENT-6");
    const random = randomNumbers(seed);
    const crashes = Array.from({ length: repeats }, (_, repeat) =>
      Object.entries(OF_WORK).map(([instant, turns]) => ({
        task: { kind: "work", turns } as const,
        instant: instant as Instant,
        occurrence: occurrence(instant as Instant, repeat),
      })),
    ).flat();
    const hit = new Set<Instant>();
    await lanes.play(inGroups(crashes, isLong ? 1 : 3), async (lane, group) => {
      for (const { task: work, instant, occurrence: nth } of group) {
        const { report } = await lane.crash(work, { kind: "at", instant, occurrence: nth });
        const reached = instantsOf(report).filter((one) => one === instant).length;
        if (reached < nth) continue;
        expect(instantsOf(report).at(-1)).toBe(instant);
        hit.add(instant);
      }
      await lane.check();
    });
    expect([...hit].toSorted()).toEqual(Object.keys(OF_WORK).toSorted());

    /** The first, the second, then any: what comes often comes late. */
    function occurrence(instant: Instant, repeat: number): number {
      if (instant.startsWith("session.")) return 1;
      if (isLong && repeat < 2) return repeat + 1;
      return random.between(
        1,
        instant === "entry.taken" ? 60 : instant.startsWith("commit") ? 8 : 2,
      );
    }
  },
  timeout,
);

test(
  "a runtime killed while it recovers a session has recovered all of it or nothing",
  async () => {
    verifies("STORE-3", "STORE-1", "RESULT-1", "EVENT-5");
    const plans = Array.from({ length: repeats }, () => [
      { kills: BEFORE_RECOVERED, left: [1, 1, 1] },
      ...RECOVERED.map((instant) => ({ kills: [instant], left: [0, 0, 0] })),
    ]).flat();
    await lanes.play(plans, async (lane, { kills, left }) => {
      // A write has happened and its end is not on record; another waits behind it.
      await lane.crash(task("work", "keeps"), {
        kind: "at",
        instant: "effect.after",
        occurrence: 1,
      });
      for (const instant of kills) {
        const { report } = await lane.crash(task("open"), { kind: "at", instant, occurrence: 1 });
        expect(instantsOf(report).at(-1)).toBe(instant);
      }
      const { unknown, skipped, runs } = await lane.check();
      expect([unknown.length, skipped.length, runs.length]).toEqual(left);
    });
  },
  timeout,
);

test(
  "a session whose removal was killed is removed, and nothing of it is left",
  async () => {
    verifies("STORE-3");
    const lane = await openCrashLane(runtimes);
    await workedOn(lane);
    await lane.check();
    const stays = lane.session_id;
    for (const instant of Array.from({ length: repeats }, () => OF_REMOVAL).flat()) {
      await lane.nextSession();
      await workedOn(lane);
      const runs = await runsOf(lane);
      expect(runs.length).toBeGreaterThan(0);
      const { report } = await lane.crash(task("remove"), { kind: "at", instant, occurrence: 1 });
      expect(instantsOf(report).at(-1)).toBe(instant);
      const { home, session_id } = lane;
      const store = await openStore({ directory: home });
      await expect(store.openSession(session_id)).rejects.toMatchObject({
        code: "session_removed",
      });
      const tombstones = await store.tombstones();
      expect(tombstones.at(-1)).toMatchObject({ session_id, reason: "crash test" });
      expect((await store.verify(session_id)).ok).toBe(true);
      expect((await store.sessions()).map((session) => session.session_id)).toContain(stays);
      expect((await store.verify(stays, { artifacts: true })).ok).toBe(true);
      await store.close();
      for (const run_id of runs) expect(filesBelow(join(home, "runs", run_id))).toEqual([]);
      await checkArtifacts(home);
    }
  },
  timeout,
);

test(
  `a runtime killed at ${rounds} random instants loses nothing and does nothing twice`,
  async () => {
    verifies("STORE-3", "STORE-1", "PIPE-3", "RESULT-1", "EVENT-5", "EVENT-6");
    const random = randomNumbers(seed);
    const begun = performance.now();
    const scale = await measureWork(await openCrashLane(runtimes), random);
    const parts = random.shuffle(Array.from({ length: rounds }, (_, i) => (i + 0.5) / rounds));
    const plans = parts.map((part) => planCrash(random, scale, part));
    const counts: Record<string, number> = {};
    await lanes.play(plans, async (lane, plan) => {
      const { where, kills, recovered } = await randomCrash(lane, plan);
      count("rounds", 1);
      count("kills", kills);
      count(`killed ${where}`, 1);
      count("calls unknown", recovered.unknown.length);
      count("calls skipped", recovered.skipped.length);
      count("sessions with something to recover", recovered.runs.length > 0 ? 1 : 0);
      if (isLong && (counts["rounds"] ?? 0) % 25 === 0) {
        console.log(`${counts["rounds"]} of ${rounds} rounds, ${seconds()} s`);
      }
    });
    if (isLong) console.log(`SOONG_TEST_SEED=${seed}, ${seconds()} s`, counts);
    expect(counts["rounds"]).toBe(rounds);

    function count(what: string, many: number): void {
      counts[what] = (counts[what] ?? 0) + many;
    }

    function seconds(): string {
      return ((performance.now() - begun) / 1000).toFixed(1);
    }
  },
  timeout,
);

test(
  "no command of a killed runtime continues, and none happens later",
  async () => {
    verifies("STORE-3");
    const lane = await openCrashLane(runtimes);
    // Killed while a command runs that would run for ten minutes.
    await lane.crash(task("work"), { kind: "at", instant: "remove.after", occurrence: 1 });
    expect((await lane.check()).unknown).not.toEqual([]);
    await nobodyWorksBelow(runtimes.folder);
    for (const one of [...lanes.all, lane]) await one.checkEffectsAgain();
  },
  timeout,
);

function inGroups<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}

function task(kind: "open" | "remove"): CrashTask;
function task(kind: "work", ...turns: TurnName[]): CrashTask;
function task(kind: "open" | "remove" | "work", ...turns: TurnName[]): CrashTask {
  return kind === "work" ? { kind, turns } : { kind };
}

/** With artifacts, a run folder, and a call that has not ended. */
async function workedOn(lane: CrashLane): Promise<void> {
  await lane.crash(task("work", "keeps"), { kind: "at", instant: "effect.after", occurrence: 2 });
}

async function runsOf({ home, session_id }: CrashLane): Promise<string[]> {
  const store = await openStore({ directory: home, readOnly: true });
  try {
    const runs = await (await store.readSession(session_id)).runs();
    return runs.map(({ run_id }) => run_id);
  } finally {
    await store.close();
  }
}
