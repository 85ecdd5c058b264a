// What a campaign has to show of its tasks when all is over: nothing lost, nothing twice.

import type { Store } from "../../../packages/store/src/index.ts";
import type { StepRecord } from "../../../packages/tasks/src/index.ts";
import type { Takeover } from "./faults.ts";
import { readBeats, readEffects, type Machine } from "./machines.ts";

export interface Checked {
  readonly steps: number;
  readonly attempts: number;
  readonly effects: number;
  readonly sessions: number;
  /** Each a sentence. */
  readonly lost: readonly string[];
  readonly double: readonly string[];
  readonly takeovers: readonly Measured[];
}

interface Measured {
  readonly fault: string;
  readonly step: string;
  /** From the fault to the next claim of the step. */
  readonly ms: number;
  /** From the fault to when the step was ready again. */
  readonly lostMs: number;
}

interface Claim {
  readonly step: string;
  readonly run_id: string;
  readonly worker: string;
  readonly at: number;
}

export async function checkCampaign(
  store: Store,
  machines: readonly Machine[],
  steps: readonly StepRecord[],
  taken: readonly Takeover[],
): Promise<Checked> {
  const lost: string[] = [];
  const double: string[] = [];
  const sessions = await readSessionIds(store);
  for (const id of sessions) {
    const verified = await store.verify(id);
    if (!verified.ok) lost.push(`session ${id}: ${verified.problem.message}`);
  }
  const completed = new Map<string, number>();
  for (const fact of await store.factsOfTypes(sessions, ["task.step.completed"])) {
    if (fact.type !== "task.step.completed") continue;
    const key = `${fact.data.task_id}/${fact.data.step_id}`;
    completed.set(key, (completed.get(key) ?? 0) + 1);
  }
  for (const { task_id, step_id, status } of steps) {
    const key = `${task_id}/${step_id}`;
    const count = completed.get(key) ?? 0;
    if (status !== "completed") lost.push(`step ${key} is ${status}`);
    else if (count === 0) lost.push(`step ${key} has no fact of its end`);
    if (count > 1) double.push(`step ${key} was completed ${count} times`);
  }
  const claims = await readClaims(store, sessions);
  const calls = await readCalls(store, sessions);
  const effects = await checkEffects();
  return {
    steps: steps.length,
    attempts: claims.length,
    effects,
    sessions: sessions.length,
    lost,
    double,
    takeovers: taken.flatMap((one) => measureTakeover(one) ?? []),
  };

  /** Each call once, each on record, and none alive beside the next attempt at its step. */
  async function checkEffects(): Promise<number> {
    let count = 0;
    for (const machine of machines) {
      const seen = new Set<string>();
      for (const id of await readEffects(machine)) {
        count += 1;
        if (seen.has(id)) double.push(`call ${id} was carried out twice`);
        seen.add(id);
        const run_id = calls.get(id);
        if (run_id === undefined) {
          lost.push(`call ${id} was carried out and is not on record`);
          continue;
        }
        const own = claims.find((claim) => claim.run_id === run_id);
        const next = own && findNext(own);
        const last = Math.max(...(await readBeats(machine, id)));
        if (own !== undefined && next !== undefined && last > next.at && !isSilenced(own))
          double.push(
            `call ${id} of ${own?.step} by ${own.worker} was alive ${last - next.at} ms into the next attempt`,
          );
      }
    }
    return count;
  }

  /** The command of a worker that was killed or suspended lives on for a moment: no one is there to end it. */
  function isSilenced({ run_id }: Claim): boolean {
    return taken.some((one) => one.run_id === run_id && one.fault !== "partition");
  }

  function findNext(own: Claim): Claim | undefined {
    const later = claims.filter((one) => one.step === own.step && one.at > own.at);
    return later.toSorted((one, other) => one.at - other.at)[0];
  }

  function findBegun(key: string): number[] {
    return machines.flatMap(({ begun }) =>
      begun.flatMap((one) => (one.step === key ? one.at : [])),
    );
  }

  function findLost(key: string): number[] {
    return taken.flatMap((one) => (`${one.task_id}/${one.step_id}` === key ? one.claimedAt : []));
  }

  /** Undefined where its worker finished after all. */
  function measureTakeover(taken: Takeover): Measured | undefined {
    const { fault, run_id, at } = taken;
    const key = `${taken.task_id}/${taken.step_id}`;
    const step = steps.find((one) => `${one.task_id}/${one.step_id}` === key);
    const lost = step?.earlier?.find((one) => one.run_id === run_id);
    if (lost === undefined) return undefined;
    // The next one may have been lost, too, before it could say so.
    const next = [...findBegun(key), ...findLost(key)].filter((claimedAt) => claimedAt > at);
    return { fault, step: key, ms: Math.min(...next) - at, lostMs: Date.parse(lost.at) - at };
  }
}

async function readSessionIds(store: Store): Promise<string[]> {
  const ids: string[] = [];
  for (let after: Awaited<ReturnType<Store["sessions"]>>[number] | undefined; ;) {
    const page = await store.sessions({ limit: 200, ...(after !== undefined && { after }) });
    ids.push(...page.map(({ session_id }) => session_id));
    if (page.length < 200) return ids;
    after = page.at(-1);
  }
}

/** By the database's clock. */
async function readClaims(store: Store, sessions: readonly string[]): Promise<Claim[]> {
  return (await store.factsOfTypes(sessions, ["task.step.claimed"])).flatMap((fact) => {
    if (fact.type !== "task.step.claimed") return [];
    const { task_id, step_id, claim } = fact.data;
    const at = Date.parse(claim.claimed_at);
    const { run_id, worker = "" } = claim;
    return [{ step: `${task_id}/${step_id}`, run_id, worker, at }];
  });
}

/** The run of each call that was begun. */
async function readCalls(store: Store, sessions: readonly string[]): Promise<Map<string, string>> {
  const started = await store.factsOfTypes(sessions, ["tool.started"]);
  return new Map(started.map(({ tool_call_id = "", run_id = "" }) => [tool_call_id, run_id]));
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}
