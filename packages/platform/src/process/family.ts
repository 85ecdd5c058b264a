// All processes of one command: its group, its session, those that carry its marker, and the children of
// all these. Who shed every one of them (another session, parents gone, a cleared or unreadable
// environment) cannot be distinguished from an unrelated process; that needs the sandbox.

import { setTimeout as delay } from "node:timers/promises";
import {
  newestPid,
  processTable,
  type PidRange,
  type ProcessEntry,
  type ProcessTable,
} from "./process-table.ts";
import { isWatchedGroup, RUNTIME_TOKEN, type Marker } from "./watchdog.ts";

export interface Family {
  /** Who is alive now. */
  look(): Sighting;
  /**
   * To the members given. "at_a_stroke": where one is in the group, all of the group get it at the same
   * moment, so that none can fork away from it.
   */
  signal(
    name: "SIGTERM" | "SIGCONT" | "SIGKILL",
    members: readonly Member[],
    how: "at_a_stroke" | "one_by_one",
  ): void;
  /** The first process was reaped: from now on its pid may become someone else's. */
  leaderReaped(): void;
}

export interface Sighting {
  alive: Member[];
  /**
   * There may be more: someone is just being replaced by another program and shows no marker, or some
   * ended while others were looked at and may have started a successor.
   */
  undecided: boolean;
}

export interface Member {
  pid: number;
  isInGroup: boolean;
}

/** No machine runs through all of the fewest pids a system has (32,768) in less. */
const PIDS_MAY_COME_ROUND_MS = 3000;

/**
 * `first`: what the leader is. The monitor of a sandbox is not asked to end but by the end of what it waits for: it would
 * take all with it at once. Its child is the first process inside, which leads the group there and is not asked either.
 */
export function createFamily(
  leader: number,
  marker: Marker,
  first: "command" | "monitor" = "command",
): Family {
  const started = performance.now();
  let group = first === "command" ? leader : undefined;
  const unrelated = new Set<number>();
  let isReaped = false;

  function pidRange(): PidRange {
    return performance.now() - started < PIDS_MAY_COME_ROUND_MS ? { from: leader } : "all";
  }

  function lookAt({ entries, hasGaps }: ProcessTable): Sighting & { mayHaveMissed: boolean } {
    // Without a table the group is all there is to know.
    if (entries.length === 0 && !hasGaps) {
      const alive = send(-leader, 0) ? [{ pid: leader, isInGroup: true }] : [];
      return { alive, undecided: false, mayHaveMissed: false };
    }
    // A group keeps its number taken while it has members. A process that has the number although ours was
    // reaped is unrelated, and so is the group.
    const isNumberOurs = !isReaped || !entries.some((entry) => entry.pid === leader);
    const isOurs = (number: number) => isNumberOurs && number === leader;
    const members = new Set<number>();
    let undecided = false;
    let mayHaveMissed = hasGaps;
    for (const entry of entries) {
      const isRelated = isOurs(entry.group) || isOurs(entry.session);
      const kind = isRelated ? "member" : kindByMarker(entry);
      if (kind === "member") members.add(entry.pid);
      if (kind === "unknown") undecided = true;
      if (kind === "just_ended") mayHaveMissed = true;
    }
    addChildren(entries, members);
    const alive = entries.filter((entry) => members.has(entry.pid) && !entry.ended);
    if (first === "monitor") group = alive.find(({ parent }) => parent === leader)?.pid;
    const isInGroup = (entry: ProcessEntry) =>
      first === "command" ? isOurs(entry.group) : entry.group === group;
    return {
      alive: alive.map((entry) => ({ pid: entry.pid, isInGroup: isInGroup(entry) })),
      undecided,
      mayHaveMissed,
    };
  }

  function kindByMarker(entry: ProcessEntry): "member" | "unrelated" | "unknown" | "just_ended" {
    if (unrelated.has(entry.pid)) return "unrelated";
    const holds = entry.ended ? false : entry.environmentHolds(marker.bytes);
    if (holds === true) return "member";
    if (holds === "unknown") return "unknown";
    unrelated.add(entry.pid);
    return entry.ended ? "just_ended" : "unrelated";
  }

  return {
    look() {
      const before = newestPid();
      const { alive, undecided, mayHaveMissed } = lookAt(processTable(pidRange()));
      const nobodyWasStarted = before !== undefined && before === newestPid();
      return { alive, undecided: undecided || (mayHaveMissed && !nobodyWasStarted) };
    },

    signal(name, members, how) {
      const meant =
        first === "command" || name === "SIGKILL"
          ? members
          : members.filter(({ pid }) => pid !== leader && pid !== group);
      const single = how === "one_by_one" ? meant : meant.filter((member) => !member.isInGroup);
      if (single.length < meant.length && group !== undefined) send(-group, name);
      for (const { pid } of single) send(pid, name);
    },

    leaderReaped() {
      isReaped = true;
    },
  };
}

function addChildren(entries: readonly ProcessEntry[], members: Set<number>): void {
  for (let size = -1; size !== members.size;) {
    size = members.size;
    for (const entry of entries) if (members.has(entry.parent)) members.add(entry.pid);
  }
}

/** Whether it could be sent: false for a process that is gone, and for another user's. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    return false;
  }
}

export interface EndingOptions {
  /** How long processes that are about to end on their own may take. */
  patienceMs: number;
  /** Between SIGTERM and SIGKILL. */
  graceMs: number;
}

export interface Ending {
  /** Everyone who had to be ended. */
  ended: Set<number>;
  /** Who was still there when we gave up: uninterruptible, or another user's. */
  survivors: number[];
}

const GIVE_UP_MS = 2500;
/** When a process that resists is killed at the latest, after the attempt to end it began. The rest is for checking that it is gone. */
export const KILL_BY_MS = 2250;

/** How often in a row a look that found no one is repeated because it was undecided. */
const UNDECIDED_LOOKS = 20;
const UNDECIDED_PAUSE_MS = 5;

/** The looks come quickly at first, because most processes end at once when asked. */
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;

/** Looking takes at most this part of the time, however many commands are ended on a busy machine. */
const SHARE_OF_LOOKS = 1 / 4;

/** What passes between two looks. */
export interface Pace {
  now(): number;
  pause(ms: number): Promise<void>;
}

const REAL_TIME: Pace = { now: () => performance.now(), pause: (ms) => delay(ms) };

/**
 * Ends all processes of a command: first asked, then killed, again and again until no one is left or nothing more can
 * be done, and in any case within the three seconds of CMD-3.
 */
export async function endFamily(
  family: Family,
  options: EndingOptions,
  pace: Pace = REAL_TIME,
): Promise<Ending> {
  const started = pace.now();
  const { patienceMs } = options;
  const killAfterMs = Math.min(patienceMs + options.graceMs, KILL_BY_MS);
  const asked = new Set<number>();
  const ended = new Set<number>();
  let pause = FIRST_PAUSE_MS;
  let undecidedLooks = 0;
  let wasKilled = false;

  for (;;) {
    const before = pace.now();
    const { alive, undecided } = family.look();
    const seen = pace.now();
    const spent = seen - started;
    undecidedLooks = alive.length > 0 ? 0 : undecidedLooks + 1;
    if (alive.length === 0 && !(undecided && undecidedLooks < UNDECIDED_LOOKS)) {
      return { ended, survivors: [] };
    }
    // This process may have stood still for all of that time: no one survives who was never killed.
    if (spent >= GIVE_UP_MS && (wasKilled || alive.length === 0)) {
      return { ended, survivors: alive.map((member) => member.pid) };
    }

    if (spent >= Math.min(patienceMs, killAfterMs))
      for (const member of alive) ended.add(member.pid);
    if (spent >= killAfterMs) {
      family.signal("SIGKILL", alive, "at_a_stroke");
      wasKilled = true;
    } else if (spent >= patienceMs) {
      // Once each: many programs take a second SIGTERM for impatience and skip their clean-up.
      const newcomers = alive.filter((member) => !asked.has(member.pid));
      const how = asked.size === 0 ? "at_a_stroke" : "one_by_one";
      for (const member of newcomers) asked.add(member.pid);
      family.signal("SIGTERM", newcomers, how);
      // A stopped process would only learn of it when it runs again.
      family.signal("SIGCONT", newcomers, how);
    }
    if (alive.length === 0) {
      await pace.pause(UNDECIDED_PAUSE_MS);
    } else {
      await pace.pause(
        Math.max(pause, Math.min((seen - before) / SHARE_OF_LOOKS, LONGEST_PAUSE_MS)),
      );
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }
}

/**
 * Whether a process is one that this runtime started, or one of theirs: by its ancestors, by the groups and sessions of
 * what runs now, and by the marker. "unknown": it is gone, or just being replaced by another program.
 */
export function isStartedHere(pid: number): boolean | "unknown" {
  if (pid === process.pid) return false;
  const entries = new Map(processTable("all").entries.map((entry) => [entry.pid, entry]));
  const token = Buffer.from(RUNTIME_TOKEN);
  const own = entries.get(pid);
  if (own === undefined || own.ended) return "unknown";
  // No chain of parents is longer than there are processes, even if some changed while the table was read.
  let entry: typeof own | undefined = own;
  for (let steps = 0; entry !== undefined && steps < entries.size; steps += 1) {
    if (entry.parent === process.pid) return true;
    if (isWatchedGroup(entry.group) || isWatchedGroup(entry.session)) return true;
    const holds = entry.environmentHolds(token);
    if (holds === true) return true;
    if (holds === "unknown" && entry === own) return "unknown";
    entry = entries.get(entry.parent);
  }
  return false;
}
