// Ends all processes of a command: first asked, then killed, again and again until nobody is left or
// nothing more can be done, and in any case within the three seconds of CMD-3.

import { setTimeout as delay } from "node:timers/promises";
import type { Family } from "./family.ts";

export interface EndingOptions {
  /** How long those that are about to end by themselves are left alone. */
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
/** Who was not killed by now is, however long the grace: there has to be time left to see that it helped. */
const KILL_BY_MS = 2250;

/** How often in a row a look that found nobody is repeated because it was undecided. */
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
    // This process may have stood still for all of that time: nobody survives who was never killed.
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
