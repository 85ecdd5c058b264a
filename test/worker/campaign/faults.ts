// The faults of a campaign, one after the other in random order, each on a machine or on the server.

import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { StepRecord } from "../../../packages/tasks/src/index.ts";
import type { PostgresServer } from "../../postgres/server.ts";
import { isOf, LEASE_MS, type Machine } from "./machines.ts";

export type Fault = "kill" | "partition" | "restart" | "suspend" | "clock";
export type FaultCounts = Readonly<Record<Fault, number>>;

export interface Takeover {
  readonly fault: Fault;
  readonly task_id: string;
  readonly step_id: string;
  readonly run_id: string;
  /** By the database's clock. */
  readonly claimedAt: number;
  /** When its worker was killed or cut off, in milliseconds since the epoch. */
  readonly at: number;
}

export interface FaultStage {
  readonly server: PostgresServer;
  readonly machines: readonly Machine[];
  /** The steps that are being worked on. */
  readonly claimed: () => Promise<readonly StepRecord[]>;
}

/** Cut off at a time. All others are there before the next fault: what is measured is not how fast a worker starts. */
const MOST_AWAY = 1;

/** What was under way on each machine when it failed. */
export async function applyFaults(
  stage: FaultStage,
  counts: FaultCounts,
  onFault: (fault: Fault) => void,
): Promise<Takeover[]> {
  const taken: Takeover[] = [];
  const long: Promise<void>[] = [];
  const away = new Set<Machine>();
  for (const fault of shuffle(counts)) {
    await delay(200 + 600 * Math.random());
    onFault(fault);
    if (fault === "restart") {
      await stage.server.restart("immediate");
      continue;
    }
    const machine = await waitForBusy();
    if (fault === "kill") {
      await noteAfter(fault, machine, async () => machine.kill());
    } else if (fault === "clock") machine.child.kill("SIGUSR2");
    else {
      away.add(machine);
      long.push(cutOff(fault, machine).finally(() => away.delete(machine)));
    }
  }
  await Promise.all(long);
  return taken;

  /** One that works, so that there is something to lose, while others are there to take it over; after a while any. */
  async function waitForBusy(): Promise<Machine> {
    for (let tries = 0; ; tries += 1) {
      const there = stage.machines.filter((one) => !away.has(one) && one.worker_id !== undefined);
      if (there.length < stage.machines.length - away.size || away.size > MOST_AWAY) {
        await delay(50);
        continue;
      }
      const steps = tries < 40 ? await stage.claimed().catch(() => []) : [];
      const busy = there.filter((one) => steps.some(({ claim }) => isOf(one, claim?.worker)));
      const from = tries < 40 ? busy : there;
      const machine = from[Math.floor(Math.random() * from.length)];
      if (machine !== undefined) return machine;
      await delay(50);
    }
  }

  /** For two leases: another one does its work meanwhile. */
  async function cutOff(fault: Fault, machine: Machine): Promise<void> {
    let processes: readonly number[] = [];
    await noteAfter(fault, machine, async () => {
      if (fault === "partition") machine.network.hole();
      else processes = await listProcesses(machine.child.pid);
      for (const pid of processes) signal(pid, "SIGSTOP");
    });
    await delay(2 * LEASE_MS);
    for (const pid of processes) signal(pid, "SIGCONT");
    machine.network.heal();
  }

  async function noteAfter(
    fault: Fault,
    { worker_id }: Machine,
    fail: () => Promise<void>,
  ): Promise<void> {
    const at = Date.now();
    await fail();
    const steps = await stage.claimed().catch(() => []);
    for (const { task_id, step_id, claim } of steps) {
      if (claim === undefined || !isOf({ worker_id }, claim.worker)) continue;
      const { run_id, claimed_at } = claim;
      taken.push({ fault, task_id, step_id, run_id, claimedAt: Date.parse(claimed_at), at });
    }
  }
}

function shuffle(counts: FaultCounts): Fault[] {
  const all = Object.entries(counts).flatMap(([fault, count]) =>
    Array.from({ length: count }, () => ({ fault: fault as Fault, order: Math.random() })),
  );
  return all.toSorted((one, other) => one.order - other.order).map(({ fault }) => fault);
}

/** With all it has started: a machine that is suspended stops as a whole. */
async function listProcesses(pid: number | undefined): Promise<number[]> {
  if (pid === undefined) return [];
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  const children = await Promise.all(
    text.split(" ").filter(Boolean).map(Number).map(listProcesses),
  );
  return [pid, ...children.flat()];
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}
