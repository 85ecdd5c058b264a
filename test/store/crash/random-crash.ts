// One random crash, or two in a row, and what came of it.

import type { Recovery } from "@soong/store";
import { TURN_NAMES, type CrashTask } from "./crash-job.ts";
import type { CrashLane, Killing } from "./crash-lane.ts";
import type { RandomNumbers } from "./random-numbers.ts";
import { killedWhere, type KilledWhere } from "./reported.ts";

export interface Scale {
  /** How long the work takes when no one kills it. */
  readonly ms: number;
  /** How many labelled instants there are in it. */
  readonly instants: number;
  readonly commits: number;
}

export interface CrashPlan {
  readonly task: CrashTask;
  readonly killing: Killing;
  /** Killed again before anyone has looked, mostly while it recovers. */
  readonly again?: { readonly task: CrashTask; readonly killing: Killing };
}

export interface CrashOutcome {
  readonly where: KilledWhere;
  readonly kills: number;
  readonly recovered: Recovery;
}

const TURNS = 4;
/** About as many labelled instants as there are while a session is opened after a crash. */
const INSTANTS_OF_RECOVERY = 14;

const NEVER: Killing = { kind: "count", instants: Number.MAX_SAFE_INTEGER };

function someWork(random: RandomNumbers): CrashTask {
  return { kind: "work", turns: random.shuffle(TURN_NAMES).slice(0, TURNS) };
}

/** Works until nothing is left to do, and only then is killed. */
export async function measureWork(lane: CrashLane, random: RandomNumbers): Promise<Scale> {
  const { report, ms } = await lane.crash(someWork(random), NEVER);
  const instants = report.filter((line) => line.kind === "at");
  const commits = instants.filter((line) => line.instant === "commit.written");
  return { ms, instants: instants.length, commits: commits.length };
}

/** `part` of the whole, from 0 to 1: spreads instants evenly over the work. */
export function planCrash(random: RandomNumbers, scale: Scale, part: number): CrashPlan {
  const task = someWork(random);
  const killing = planKilling(random, scale, part);
  if (random.next() < 2 / 3) return { task, killing };
  const again = {
    task: random.next() < 0.5 ? ({ kind: "open" } as const) : someWork(random),
    killing:
      random.next() < 0.8
        ? ({ kind: "count", instants: random.between(1, INSTANTS_OF_RECOVERY) } as const)
        : ({ kind: "outside", afterMs: random.between(0, 30) } as const),
  };
  return { task, killing, again };
}

function planKilling(random: RandomNumbers, scale: Scale, part: number): Killing {
  const manner = random.next();
  if (manner < 0.45) return { kind: "outside", afterMs: part * scale.ms };
  if (manner < 0.6) return { kind: "in_commit", commit: 1 + Math.floor(part * scale.commits) };
  return { kind: "count", instants: 1 + Math.floor(part * scale.instants) };
}

export async function randomCrash(lane: CrashLane, plan: CrashPlan): Promise<CrashOutcome> {
  const { report } = await lane.crash(plan.task, plan.killing);
  if (plan.again !== undefined) await lane.crash(plan.again.task, plan.again.killing);
  return {
    where: killedWhere(report),
    kills: plan.again === undefined ? 1 : 2,
    recovered: await lane.check(),
  };
}
