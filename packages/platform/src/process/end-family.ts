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

/** How often in a row a look that found nobody is repeated because it was undecided. */
const UNDECIDED_LOOKS = 20;
const UNDECIDED_PAUSE_MS = 5;

/** The looks come quickly at first, because most processes end at once when asked. */
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;

/** Looking takes at most this part of the time, however many commands are ended on a busy machine. */
const SHARE_OF_LOOKS = 1 / 4;

export async function endFamily(family: Family, options: EndingOptions): Promise<Ending> {
  const started = performance.now();
  const { patienceMs } = options;
  const killAfterMs = patienceMs + options.graceMs;
  const asked = new Set<number>();
  const ended = new Set<number>();
  let pause = FIRST_PAUSE_MS;
  let undecidedLooks = 0;

  for (;;) {
    const before = performance.now();
    const { alive, undecided } = family.look();
    const now = performance.now();
    const spent = now - started;
    undecidedLooks = alive.length > 0 ? 0 : undecidedLooks + 1;
    if (alive.length === 0 && !(undecided && undecidedLooks < UNDECIDED_LOOKS)) {
      return { ended, survivors: [] };
    }
    if (spent >= GIVE_UP_MS) return { ended, survivors: alive.map((member) => member.pid) };

    if (spent >= patienceMs) for (const member of alive) ended.add(member.pid);
    if (spent >= killAfterMs) {
      family.signal("SIGKILL", alive, "at_a_stroke");
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
      await delay(UNDECIDED_PAUSE_MS);
    } else {
      await delay(Math.max(pause, Math.min((now - before) / SHARE_OF_LOOKS, LONGEST_PAUSE_MS)));
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }
}
