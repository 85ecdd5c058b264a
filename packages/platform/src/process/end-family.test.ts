import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { endFamily, type Family, type Pace, type Sighting } from "./family.ts";

/** A family as it is seen look by look, and the signals it gets. */
function familySeen(seen: (look: number) => Partial<Sighting>): {
  family: Family;
  signals: string[];
} {
  const signals: string[] = [];
  let looks = 0;
  const family: Family = {
    look() {
      looks += 1;
      return { alive: [], undecided: false, ...seen(looks) };
    },
    signal(name, members, how) {
      if (members.length > 0)
        signals.push(`${name} ${members.map(({ pid }) => pid).join(",")} ${how}`);
    },
    leaderReaped() {},
  };
  return { family, signals };
}

const member = (pid: number) => ({ pid, isInGroup: true });

describe("the end of a family", () => {
  test("does nothing when no process is left", async () => {
    const { family, signals } = familySeen(() => ({}));
    expect(await endFamily(family, { patienceMs: 0, graceMs: 0 })).toEqual({
      ended: new Set(),
      survivors: [],
    });
    expect(signals).toEqual([]);
  });

  test("does not kill those that end in time", async () => {
    const { family, signals } = familySeen((look) => (look < 4 ? { alive: [member(2)] } : {}));
    const { ended } = await endFamily(family, { patienceMs: 10_000, graceMs: 0 });
    expect([...ended]).toEqual([]);
    expect(signals).toEqual([]);
  });

  test("asks each one once, the first ones at a stroke", async () => {
    const { family, signals } = familySeen((look) => {
      if (look < 3) return { alive: [member(2), member(3)] };
      if (look < 6) return { alive: [member(2), member(4)] };
      return {};
    });
    const { ended } = await endFamily(family, { patienceMs: 0, graceMs: 10_000 });
    expect([...ended]).toEqual([2, 3, 4]);
    expect(signals).toEqual([
      "SIGTERM 2,3 at_a_stroke",
      "SIGCONT 2,3 at_a_stroke",
      "SIGTERM 4 one_by_one",
      "SIGCONT 4 one_by_one",
    ]);
  });

  test("kills every process it finds, again and again, until none is left", async () => {
    const { family, signals } = familySeen((look) => (look < 5 ? { alive: [member(look)] } : {}));
    await endFamily(family, { patienceMs: 0, graceMs: 0 });
    expect(signals).toEqual([1, 2, 3, 4].map((pid) => `SIGKILL ${pid} at_a_stroke`));
  });

  test("looks again while a process may turn out to belong to it", async () => {
    const { family, signals } = familySeen((look) => {
      if (look < 3) return { undecided: true };
      return look === 3 ? { alive: [member(9)] } : {};
    });
    const { ended } = await endFamily(family, { patienceMs: 0, graceMs: 0 });
    expect([...ended]).toEqual([9]);
    expect(signals).toEqual(["SIGKILL 9 at_a_stroke"]);
  });

  test("looks again as patiently when that happens once more, while they are being ended", async () => {
    const { family, signals } = familySeen((look) => {
      if (look < 15) return { undecided: true };
      if (look === 15) return { alive: [member(2)] };
      if (look < 30) return { undecided: true };
      return look === 30 ? { alive: [member(9)] } : {};
    });
    const { ended } = await endFamily(family, { patienceMs: 0, graceMs: 10_000 });
    expect([...ended]).toEqual([2, 9]);
    expect(signals).toContain("SIGTERM 9 one_by_one");
  });

  test("does not wait for ever for an unrelated process whose environment is empty", async () => {
    let looks = 0;
    const { family } = familySeen((look) => {
      looks = look;
      return { undecided: true };
    });
    expect((await endFamily(family, { patienceMs: 0, graceMs: 0 })).survivors).toEqual([]);
    expect(looks).toBe(20);
  });

  test("gives up on those that nothing can end, and names them, within the three seconds of the law", async () => {
    verifies("CMD-3");
    const { family } = familySeen(() => ({ alive: [member(2)] }));
    const pace = paceOf((ms) => ms);
    const { survivors } = await endFamily(family, { patienceMs: 0, graceMs: 100 }, pace);
    expect(survivors).toEqual([2]);
    expect(pace.now()).toBeLessThan(3000);
  });

  test.each([
    { patienceMs: 0, graceMs: 60_000 },
    { patienceMs: 1000, graceMs: 2000 },
    { patienceMs: 60_000, graceMs: 0 },
  ])("kills in time a process that is given longer than the law allows: %j", async (options) => {
    verifies("CMD-3");
    const { family, signals } = familySeen(() =>
      signals.some((sent) => sent.startsWith("SIGKILL")) ? {} : { alive: [member(2)] },
    );
    const pace = paceOf((ms) => ms);
    const { ended, survivors } = await endFamily(family, options, pace);
    expect([[...ended], survivors]).toEqual([[2], []]);
    expect(pace.now()).toBeLessThan(3000);
  });

  test("kills before it gives up, though its own process was paused meanwhile", async () => {
    verifies("CMD-3");
    const { family, signals } = familySeen(() =>
      signals.some((sent) => sent.startsWith("SIGKILL")) ? {} : { alive: [member(2)] },
    );
    const aMinuteEach = paceOf(() => 60_000);
    const options = { patienceMs: 0, graceMs: 1000 };
    expect((await endFamily(family, options, aMinuteEach)).survivors).toEqual([]);
    expect(signals.at(-1)).toBe("SIGKILL 2 at_a_stroke");
  });
});

/** Time that passes in pauses alone, each of the given length. */
function paceOf(lasts: (ms: number) => number): Pace {
  let time = 0;
  return {
    now: () => time,
    async pause(ms) {
      time += lasts(ms);
    },
  };
}
