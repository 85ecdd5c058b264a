// All processes of one command: its group, its session, whoever carries its marker, and the children of
// all these. Who shed every one of them (another session, parents gone, a cleared or unreadable
// environment) cannot be told from a stranger; that needs the sandbox.

import type { Marker } from "./marker.ts";
import { newestPid, processTable } from "./process-table.ts";
import type { ProcessEntry, ProcessTable } from "./process-entry.ts";
import type { PidRange } from "./process-table.ts";

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
  /** The first process was reaped: from now on its pid may become somebody else's. */
  leaderReaped(): void;
}

export interface Sighting {
  alive: Member[];
  /**
   * There may be more: somebody is just being replaced by another program and shows no marker, or some
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

export function createFamily(leader: number, marker: Marker): Family {
  const started = performance.now();
  const strangers = new Set<number>();
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
    // A group keeps its number taken while it has members. Whoever has the number although ours was
    // reaped is a stranger, and so is the group.
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
    return {
      alive: alive.map(({ pid, group }) => ({ pid, isInGroup: isOurs(group) })),
      undecided,
      mayHaveMissed,
    };
  }

  function kindByMarker(entry: ProcessEntry): "member" | "stranger" | "unknown" | "just_ended" {
    if (strangers.has(entry.pid)) return "stranger";
    const holds = entry.ended ? false : entry.environmentHolds(marker.bytes);
    if (holds === true) return "member";
    if (holds === "unknown") return "unknown";
    strangers.add(entry.pid);
    return entry.ended ? "just_ended" : "stranger";
  }

  return {
    look() {
      const before = newestPid();
      const { alive, undecided, mayHaveMissed } = lookAt(processTable(pidRange()));
      const nobodyWasStarted = before !== undefined && before === newestPid();
      return { alive, undecided: undecided || (mayHaveMissed && !nobodyWasStarted) };
    },

    signal(name, members, how) {
      const single = how === "one_by_one" ? members : members.filter((member) => !member.isInGroup);
      if (single.length < members.length) send(-leader, name);
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
