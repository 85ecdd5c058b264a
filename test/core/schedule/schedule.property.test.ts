import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { Schedule } from "../../../packages/core/src/schedule/schedule.ts";
import { anyEvents, anyScenario, runs } from "./any-scenario.ts";
import { courseOf, type Look, type Standing, streamLets } from "./course.ts";
import { playWithScheduler } from "./play.ts";
import { playByDefinition } from "./reference-model.ts";
import { inOrder, renderHappening, type Scenario } from "./scenario.ts";

test("the scheduler does at every moment what the reference model says", () => {
  verifies("SCHED-1", "SCHED-2", "SCHED-3", "SCHED-4", "SCHED-5", "SCHED-6", "SCHED-9");
  fc.assert(
    fc.property(anyScenario, (scenario) => {
      const played = inOrder(playWithScheduler(scenario)).map(renderHappening);
      expect(played).toEqual(inOrder(playByDefinition(scenario)).map(renderHappening));
    }),
    runs(10_000),
  );
});

describe("when calls arrive, fail, ask, change or are halted", () => {
  test("a call goes only when all before it has ended or runs together with it", () => {
    verifies("SCHED-1");
    assertAlways(({ happening: { what, call } }, before) => {
      if (what !== "start" && what !== "resume") return;
      const group = standing(before, call).class;
      const alone = group === "write" || group === "exclusive";
      const unfinished = before.filter((it) => it.call < call && it.phase !== "over");
      expect(unfinished.filter((it) => alone || it.class !== group)).toEqual([]);
    });
  });

  test("a write or a readonly call that is not safe beside others runs beside nothing", () => {
    verifies("SCHED-1");
    assertAlways(({ calls }) => {
      const running = calls.filter(isRunning);
      if (running.some((it) => it.class === "write" || it.class === "exclusive")) {
        expect(running).toHaveLength(1);
      }
    });
  });

  test("never more than the maximum run together", () => {
    verifies("SCHED-1");
    assertAlways(({ calls }, _, { maxParallel }) => {
      const running = calls.filter((it) => isRunning(it) && it.class === "parallel");
      expect(running.length).toBeLessThanOrEqual(maxParallel);
    });
  });

  test("a call by an unknown name or an invalid readonly call changes nothing for the others", () => {
    verifies("SCHED-1");
    fc.assert(
      fc.property(anyScenario, (scenario) => {
        const refusedAtOnce = scenario.calls.flatMap(({ verdict, judgedAfter }, call) =>
          verdict === "refused" && judgedAfter === 0 ? [call] : [],
        );
        expect(timesOfOthers(scenario, refusedAtOnce)).toEqual(
          timesOfOthers(without(scenario, refusedAtOnce), []),
        );
      }),
      runs(2000),
    );
  });

  test("adjacent starters all start together, and neither cancel nor are cancelled", () => {
    verifies("SCHED-2");
    assertAlways(({ happening, calls, momentEnds }, before, scenario) => {
      if (happening.what === "cancel") {
        expect(standing(before, happening.call).class).not.toBe("spawns_agent");
        expect(standing(before, happening.cause).class).not.toBe("spawns_agent");
      }
      if (!momentEnds || !streamLets(scenario, happening.at, { class: "spawns_agent" })) return;
      const row = calls.filter((it) => it.phase !== "over");
      const group = row.slice(0, lengthOfFront(row, "spawns_agent"));
      expect(group.filter((it) => it.phase === "queued" || it.phase === "waiting")).toEqual([]);
    });
  });

  test("what comes after a failed, denied or invalid write is skipped and names it", () => {
    verifies("SCHED-3");
    assertAlways(({ happening, calls, stoppers, cancelledBefore, momentEnds }) => {
      const first = Math.min(...stoppers);
      if (happening.what === "start" || happening.what === "resume") {
        expect(happening.call).toBeLessThan(first);
      }
      if (!momentEnds) return;
      // What runs cannot be stopped, and what was cancelled is ending already.
      const stopped = calls.filter(
        (it) => it.call > first && !isRunning(it) && !cancelledBefore.includes(it.call),
      );
      expect(stopped.filter((it) => it.phase !== "pending" && it.phase !== "over")).toEqual([]);
    });
  });

  test("only a write stops others, and only those after it", () => {
    verifies("SCHED-3");
    assertAlways(({ happening, stoppers }) => {
      if (happening.what !== "skip") return;
      expect(happening.cause).toBe(Math.min(...stoppers));
      expect(happening.call).toBeGreaterThan(happening.cause);
    });
  });

  test("a failure cancels only the calls beside it, once, and they never continue", () => {
    verifies("SCHED-4");
    assertAlways(({ happening, cancelledBefore }, before, scenario) => {
      const { call, what } = happening;
      if (cancelledBefore.includes(call)) expect(what).toBe("fail");
      if (what !== "cancel") return;
      const { cause } = happening;
      expect(standing(before, cause).phase).toBe("over");
      expect(scenario.calls[cause]!.outcome).toBe("fails and cancels siblings");
      const [from, to] = [Math.min(call, cause), Math.max(call, cause)];
      const between = before.filter((it) => from < it.call && it.call < to);
      expect(between.filter((it) => it.phase !== "over" && it.class !== "parallel")).toEqual([]);
      expect(standing(before, call).class).toBe("parallel");
      expect(standing(before, cause).class).toBe("parallel");
    });
  });

  test("while the stream is open only what the policy lets start early runs", () => {
    verifies("SCHED-5");
    assertAlways(({ happening: { what, call, at }, calls }, _, scenario) => {
      if (what !== "start" && what !== "resume") return;
      expect(streamLets(scenario, at, standing(calls, call))).toBe(true);
    });
  });

  test("of an abandoned attempt no write has run under the default, and nothing starts any more", () => {
    verifies("SCHED-6");
    const abandoned = anyScenario.filter(
      ({ streamEnds, early }) => streamEnds === "never" && early === "readonly",
    );
    fc.assert(
      fc.property(abandoned, (scenario) => {
        for (const { happening, calls } of courseOf(scenario, playWithScheduler(scenario))) {
          const running = calls.filter(isRunning);
          expect(
            running.filter((it) => it.class === "write" || it.class === "spawns_agent"),
          ).toEqual([]);
          expect(running.filter((it) => !scenario.calls[it.call]!.repeatable)).toEqual([]);
          if (happening.what === "start") {
            expect(happening.at).toBeLessThanOrEqual(scenario.halt!.at);
          }
        }
      }),
      runs(1000),
    );
  });

  test("after a halt no call starts, and all that waited to start are dropped", () => {
    verifies("SCHED-6");
    assertAlways(({ happening, calls, momentEnds }, _, { halt }) => {
      if (halt === undefined || happening.at < halt.at) return;
      if (happening.at > halt.at) expect(happening.what).not.toBe("start");
      if (momentEnds) expect(calls.filter((it) => it.phase === "queued")).toEqual([]);
    });
  });

  test("no slot is idle: what may go goes at once, also past a call that waits for the user", () => {
    verifies("SCHED-1", "SCHED-5", "PERM-13");
    assertAlways(({ happening: { at }, calls, momentEnds }, _, scenario) => {
      if (!momentEnds) return;
      const row = calls.filter((it) => it.phase !== "over");
      const running = row.filter(isRunning).length;
      const slots = row[0]?.class === "parallel" ? scenario.maxParallel : 1;
      const group = row.slice(0, Math.max(1, lengthOfFront(row, "parallel")));
      const idle = group.filter((it) => it.phase === "queued" || it.phase === "waiting");
      // What has to wait for the end of the stream holds up what comes after it.
      const held = idle.findIndex((it) => !streamLets(scenario, at, it));
      if (running < slots) expect(idle.slice(0, held === -1 ? idle.length : held)).toEqual([]);
    });
  });

  test("every call that arrives ends exactly once", () => {
    verifies("SCHED-3", "SCHED-4");
    assertAlways(({ happening, calls, turnEnds }, before) => {
      expect(before[happening.call]?.phase).not.toBe("over");
      if (turnEnds) expect(calls.filter((it) => it.phase !== "over")).toEqual([]);
    });
  });
});

test("for any events in any order, it starts a call once and never acts on one that is over", () => {
  verifies("SCHED-9");
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), anyEvents, (maxParallel, events) => {
      const schedule = new Schedule({ maxParallel, early: "readonly" });
      const [known, begun, over] = [new Set<string>(), new Set<string>(), new Set<string>()];
      for (const event of events) {
        if (event.type === "arrived") known.add(event.id);
        const ends = event.type === "ended" || event.type === "refused";
        if (ends && known.has(event.id)) over.add(event.id);
        for (const { type, id } of schedule.step(event)) {
          expect(known.has(id) && !over.has(id), `${type} ${id}`).toBe(true);
          if (type === "start" || type === "resume") expect(begun.has(id)).toBe(type === "resume");
          if (type === "start") begun.add(id);
          else if (type !== "resume") over.add(id);
        }
      }
    }),
    runs(2000),
  );
});

/** Checks every look of every scenario, with how the calls stood before the happening. */
function assertAlways(
  check: (look: Look, before: readonly Standing[], scenario: Scenario) => void,
): void {
  fc.assert(
    fc.property(anyScenario, (scenario) => {
      const course = courseOf(scenario, playWithScheduler(scenario));
      course.forEach((look, i) => check(look, course[i - 1]?.calls ?? [], scenario));
    }),
    runs(2000),
  );
}

function isRunning(it: Standing): boolean {
  return it.phase === "running";
}

function standing(calls: readonly Standing[], call: number): Standing {
  return calls[call]!;
}

/** How many calls of this class stand in front of all others. */
function lengthOfFront(row: readonly Standing[], kind: Standing["class"]): number {
  const end = row.findIndex((it) => it.class !== kind);
  return end === -1 ? row.length : end;
}

/** The scenario in which these calls were never made; the others keep their times. */
function without({ calls, ...scenario }: Scenario, left: readonly number[]): Scenario {
  return { ...scenario, calls: calls.filter((_, call) => !left.includes(call)) };
}

/** What happened to the others, the calls renumbered as if the left-out ones were not there. */
function timesOfOthers(scenario: Scenario, left: readonly number[]): readonly string[] {
  const renumbered = (call: number) => call - left.filter((other) => other < call).length;
  const others = playWithScheduler(scenario).filter(({ call }) => !left.includes(call));
  const renamed = others.map((it) =>
    "cause" in it
      ? { ...it, call: renumbered(it.call), cause: renumbered(it.cause) }
      : { ...it, call: renumbered(it.call) },
  );
  return inOrder(renamed).map(renderHappening);
}
