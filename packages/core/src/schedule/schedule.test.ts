import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  Schedule,
  type CallClass,
  type ScheduleAction,
  type ScheduleEvent,
  type ScheduleOptions,
} from "./schedule.ts";

const DEFAULTS: ScheduleOptions = { maxParallel: 10, early: "readonly" };

describe("calls in the order of the model", () => {
  test("neighbours that are readonly and safe beside each other start as they arrive", () => {
    verifies("SCHED-1", "SCHED-5");
    const turn = begin();
    expect(turn.call("a", "parallel")).toEqual(["start a"]);
    expect(turn.call("b", "parallel")).toEqual(["start b"]);
    expect(turn.call("c", "parallel")).toEqual(["start c"]);
  });

  test("no more than the maximum run at once, and the next in order takes a free slot", () => {
    verifies("SCHED-1");
    const turn = begin({ maxParallel: 2 });
    expect(turn.calls({ a: "parallel", b: "parallel", c: "parallel", d: "parallel" })).toEqual([
      "start a",
      "start b",
    ]);
    expect(turn.ends("b")).toEqual(["start c"]);
    expect(turn.ends("a")).toEqual(["start d"]);
    expect(turn.ends("c")).toEqual([]);
  });

  test("a write waits for all before it, runs alone, and nothing crosses it", () => {
    verifies("SCHED-1");
    const turn = begin();
    turn.streamEnds();
    expect(turn.calls({ a: "parallel", b: "parallel", w: "write", c: "parallel" })).toEqual([
      "start a",
      "start b",
    ]);
    expect(turn.ends("b")).toEqual([]);
    expect(turn.ends("a")).toEqual(["start w"]);
    expect(turn.ends("w")).toEqual(["start c"]);
  });

  test("a readonly call that is not safe beside others runs alone too", () => {
    verifies("SCHED-1");
    const turn = begin();
    expect(turn.calls({ a: "parallel", x: "exclusive", y: "exclusive", b: "parallel" })).toEqual([
      "start a",
    ]);
    expect(turn.ends("a")).toEqual(["start x"]);
    expect(turn.fails("x")).toEqual(["start y"]);
    expect(turn.ends("y")).toEqual(["start b"]);
  });

  test("a refused call is neither barrier nor stop: its neighbours are still neighbours", () => {
    verifies("SCHED-1");
    const turn = begin();
    turn.call("a", "parallel");
    expect(turn.refused("unknown")).toEqual([]);
    expect(turn.call("b", "parallel")).toEqual(["start b"]);
    expect(turn.fails("b", { cancelsSiblings: true })).toEqual(["cancel a because of b"]);
  });

  test("a call that is still being validated holds back what comes after it, and only that", () => {
    verifies("SCHED-1");
    const turn = begin({ maxParallel: 1 });
    turn.calls({ a: "parallel", b: "parallel" });
    turn.step({ type: "arrived", id: "slow" });
    expect(turn.call("c", "parallel")).toEqual([]);
    expect(turn.ends("a")).toEqual(["start b"]);
    expect(turn.ends("b")).toEqual([]);
    expect(turn.step({ type: "refused", id: "slow", stops: false })).toEqual(["start c"]);
  });
});

describe("agent starters", () => {
  test("adjacent ones all run together, for any maximum, and all are waited for", () => {
    verifies("SCHED-2");
    const turn = begin({ maxParallel: 1 });
    turn.streamEnds();
    expect(
      turn.calls({ a: "spawns_agent", b: "spawns_agent", c: "spawns_agent", after: "parallel" }),
    ).toEqual(["start a", "start b", "start c"]);
    expect(turn.ends("a")).toEqual([]);
    expect(turn.ends("c")).toEqual([]);
    expect(turn.ends("b")).toEqual(["start after"]);
  });

  test("the failure of one cancels and stops nothing, even if its tool wants to", () => {
    verifies("SCHED-2");
    const turn = begin();
    turn.streamEnds();
    turn.calls({ a: "spawns_agent", b: "spawns_agent", w: "write" });
    expect(turn.fails("a", { cancelsSiblings: true })).toEqual([]);
    expect(turn.ends("b")).toEqual(["start w"]);
  });

  test("they are a class of their own: readonly neighbours are another group", () => {
    verifies("SCHED-2");
    const turn = begin();
    turn.streamEnds();
    expect(turn.calls({ a: "parallel", b: "spawns_agent", c: "parallel" })).toEqual(["start a"]);
    expect(turn.ends("a")).toEqual(["start b"]);
    expect(turn.ends("b")).toEqual(["start c"]);
  });
});

describe("failure", () => {
  test("a readonly failure or denial lets later calls continue", () => {
    verifies("SCHED-3");
    const turn = begin();
    turn.streamEnds();
    turn.calls({ a: "parallel", w: "write" });
    expect(turn.fails("a")).toEqual(["start w"]);
  });

  test("a failed or denied write skips every later call, and each names it", () => {
    verifies("SCHED-3");
    const turn = begin();
    turn.streamEnds();
    turn.calls({ a: "parallel", w: "write", b: "parallel", x: "write", c: "spawns_agent" });
    turn.ends("a");
    expect(turn.fails("w")).toEqual([
      "skip b because of w",
      "skip x because of w",
      "skip c because of w",
    ]);
  });

  test("an invalid write call stops what comes after it at once; what came before continues", () => {
    verifies("SCHED-3");
    const turn = begin({ maxParallel: 1 });
    turn.calls({ a: "parallel", b: "parallel" });
    turn.step({ type: "arrived", id: "w" });
    turn.call("c", "parallel");
    expect(turn.step({ type: "refused", id: "w", stops: true })).toEqual(["skip c because of w"]);
    expect(turn.ends("a")).toEqual(["start b"]);
  });

  test("a call that arrives after the stop is skipped too, but a refused one keeps its own error", () => {
    verifies("SCHED-3");
    const turn = begin();
    turn.refused("w", { stops: true });
    expect(turn.call("a", "parallel")).toEqual(["skip a because of w"]);
    expect(turn.refused("unknown")).toEqual([]);
  });

  test("of two calls that stop, a later call names the first in call order", () => {
    verifies("SCHED-3");
    const turn = begin();
    turn.step({ type: "arrived", id: "first" });
    turn.call("a", "parallel");
    turn.refused("second", { stops: true });
    expect(turn.call("b", "parallel")).toEqual(["skip b because of second"]);
    expect(turn.step({ type: "refused", id: "first", stops: true })).toEqual([
      "skip a because of first",
    ]);
    turn.refused("third", { stops: true });
    expect(turn.call("c", "parallel")).toEqual(["skip c because of first"]);
  });
});

describe("cancelling siblings", () => {
  test("hits what runs, asks, waits or is queued in the same group, and names the cause", () => {
    verifies("SCHED-4");
    const turn = begin({ maxParallel: 2 });
    turn.streamEnds();
    turn.calls({ done: "parallel", runs: "parallel", asks: "parallel", waits: "parallel" });
    turn.calls({ bad: "parallel", queued: "parallel", w: "write" });
    expect(turn.ends("done")).toEqual(["start asks"]);
    expect(turn.step({ type: "asking", id: "asks" })).toEqual(["start waits"]);
    expect(turn.step({ type: "asking", id: "waits" })).toEqual(["start bad"]);
    expect(turn.step({ type: "answered", id: "waits" })).toEqual([]);
    expect(turn.fails("bad", { cancelsSiblings: true }).toSorted()).toEqual([
      "cancel asks because of bad",
      "cancel queued because of bad",
      "cancel runs because of bad",
      "cancel waits because of bad",
    ]);
    expect(turn.fails("runs")).toEqual([]);
    expect(turn.fails("waits")).toEqual([]);
    expect(turn.fails("asks")).toEqual(["start w"]);
  });

  test("a plain failure cancels nothing", () => {
    verifies("SCHED-4");
    const turn = begin();
    turn.calls({ a: "parallel", b: "parallel" });
    expect(turn.fails("a")).toEqual([]);
  });

  test("does not reach past a call of another class or one not yet known", () => {
    verifies("SCHED-4");
    const turn = begin();
    turn.calls({ a: "parallel", b: "parallel" });
    turn.step({ type: "arrived", id: "pending" });
    turn.call("c", "parallel");
    expect(turn.fails("a", { cancelsSiblings: true })).toEqual(["cancel b because of a"]);
    expect(turn.ends("b")).toEqual([]);
    turn.step({ type: "classified", id: "pending", class: "exclusive" });
    expect(turn.fails("pending")).toEqual(["start c"]);
  });

  test("nothing runs beside an exclusive call, so its failure cancels nothing", () => {
    verifies("SCHED-4", "SCHED-3");
    const turn = begin();
    turn.calls({ a: "exclusive", b: "exclusive" });
    expect(turn.fails("a", { cancelsSiblings: true })).toEqual(["start b"]);
  });

  test("the writes after a failed write are skipped, not cancelled", () => {
    verifies("SCHED-4", "SCHED-3");
    const turn = begin();
    turn.streamEnds();
    turn.calls({ v: "write", w: "write" });
    expect(turn.fails("v", { cancelsSiblings: true })).toEqual(["skip w because of v"]);
  });

  test("a cancelled call does not continue, though it was waiting and a slot is free now", () => {
    verifies("SCHED-4");
    const turn = begin({ maxParallel: 1 });
    turn.calls({ a: "parallel", b: "parallel" });
    turn.step({ type: "asking", id: "a" });
    turn.step({ type: "answered", id: "a" });
    expect(turn.fails("b", { cancelsSiblings: true })).toEqual(["cancel a because of b"]);
    expect(turn.fails("a")).toEqual([]);
  });

  test("a cancelled call that is answered after all does not continue either", () => {
    verifies("SCHED-4");
    const turn = begin();
    turn.calls({ a: "parallel", b: "parallel" });
    turn.step({ type: "asking", id: "a" });
    turn.fails("b", { cancelsSiblings: true });
    expect(turn.step({ type: "answered", id: "a" })).toEqual([]);
  });

  test("a call is cancelled once, and the failure this causes cancels nothing else", () => {
    verifies("SCHED-4");
    const turn = begin();
    turn.calls({ a: "parallel", b: "parallel", c: "parallel" });
    expect(turn.fails("c", { cancelsSiblings: true }).toSorted()).toEqual([
      "cancel a because of c",
      "cancel b because of c",
    ]);
    expect(turn.call("late", "parallel")).toEqual(["start late"]);
    expect(turn.fails("b", { cancelsSiblings: true })).toEqual([]);
    expect(turn.fails("late", { cancelsSiblings: true })).toEqual([]);
  });

  test("a cancelled call is not skipped as well", () => {
    verifies("SCHED-4", "SCHED-3");
    const turn = begin();
    turn.streamEnds();
    turn.calls({ w: "parallel", a: "parallel", b: "parallel" });
    turn.step({ type: "reclassified", id: "w", class: "write" });
    turn.step({ type: "asking", id: "a" });
    expect(turn.fails("b", { cancelsSiblings: true })).toEqual([
      "cancel a because of b",
      "resume w",
    ]);
    expect(turn.fails("w")).toEqual([]);
  });

  test("a cancelled call that learns of a changed input stays what it was until it has ended", () => {
    verifies("SCHED-4");
    const turn = begin();
    turn.calls({ a: "parallel", b: "parallel" });
    turn.fails("b", { cancelsSiblings: true });
    turn.step({ type: "reclassified", id: "a", class: "write" });
    expect(turn.call("c", "parallel")).toEqual(["start c"]);
  });

  test("nothing starts over a cancelled call that has not ended yet", () => {
    verifies("SCHED-4", "SCHED-1");
    const turn = begin();
    turn.streamEnds();
    turn.calls({ a: "parallel", b: "parallel", w: "write" });
    turn.step({ type: "asking", id: "a" });
    expect(turn.fails("b", { cancelsSiblings: true })).toEqual(["cancel a because of b"]);
    expect(turn.fails("a")).toEqual(["start w"]);
  });
});

describe("while the model still streams", () => {
  test.each<[ScheduleOptions["early"], CallClass, "at once" | "when the stream has ended"]>([
    ["none", "parallel", "when the stream has ended"],
    ["none", "exclusive", "when the stream has ended"],
    ["none", "write", "when the stream has ended"],
    ["none", "spawns_agent", "when the stream has ended"],
    ["readonly", "parallel", "at once"],
    ["readonly", "exclusive", "at once"],
    ["readonly", "write", "when the stream has ended"],
    ["readonly", "spawns_agent", "when the stream has ended"],
    ["all", "parallel", "at once"],
    ["all", "exclusive", "at once"],
    ["all", "write", "at once"],
    ["all", "spawns_agent", "at once"],
  ])("early %s: a call of the class %s starts %s", (early, kind, when) => {
    verifies("SCHED-5");
    const turn = begin({ early });
    expect(turn.call("a", kind)).toEqual(when === "at once" ? ["start a"] : []);
    expect(turn.streamEnds()).toEqual(when === "at once" ? [] : ["start a"]);
  });

  test("a readonly call waits behind a write that may not start early", () => {
    verifies("SCHED-5");
    const turn = begin();
    expect(turn.calls({ w: "write", a: "parallel" })).toEqual([]);
    expect(turn.streamEnds()).toEqual(["start w"]);
    expect(turn.ends("w")).toEqual(["start a"]);
  });

  test("a call that began readonly and became a write continues when the stream has ended", () => {
    verifies("SCHED-5", "SCHED-6");
    const turn = begin();
    turn.call("a", "parallel");
    expect(turn.step({ type: "reclassified", id: "a", class: "write" })).toEqual([]);
    expect(turn.streamEnds()).toEqual(["resume a"]);
  });

  test("when the attempt is abandoned nothing starts any more, now or when it is known later", () => {
    verifies("SCHED-6");
    const turn = begin();
    turn.calls({ a: "parallel", w: "write", b: "parallel" });
    turn.step({ type: "arrived", id: "pending" });
    expect(turn.step({ type: "halted" })).toEqual(["drop w", "drop b"]);
    expect(turn.fails("a")).toEqual([]);
    expect(turn.step({ type: "classified", id: "pending", class: "parallel" })).toEqual([
      "drop pending",
    ]);
    expect(turn.call("late", "parallel")).toEqual(["drop late"]);
  });
});

describe("a halt", () => {
  test("lets nothing go that has become something else and not continued yet", () => {
    verifies("SCHED-6");
    const turn = begin();
    turn.calls({ a: "parallel", b: "parallel" });
    turn.step({ type: "reclassified", id: "a", class: "write" });
    expect(turn.step({ type: "halted" })).toEqual(["drop a"]);
    expect(turn.step({ type: "reclassified", id: "b", class: "write" })).toEqual(["drop b"]);
    expect(turn.streamEnds()).toEqual([]);
  });

  test("leaves a call that was answered to finish", () => {
    verifies("PERM-13");
    const turn = begin();
    turn.call("a", "parallel");
    turn.step({ type: "asking", id: "a" });
    expect(turn.step({ type: "halted" })).toEqual([]);
    expect(turn.step({ type: "answered", id: "a" })).toEqual(["resume a"]);
  });
});

describe("waiting for the user", () => {
  test("holds no slot, and the answered call is the next to get one", () => {
    verifies("PERM-13");
    const turn = begin({ maxParallel: 1 });
    turn.calls({ a: "parallel", b: "parallel", c: "parallel" });
    expect(turn.step({ type: "asking", id: "a" })).toEqual(["start b"]);
    expect(turn.step({ type: "answered", id: "a" })).toEqual([]);
    expect(turn.ends("b")).toEqual(["resume a"]);
    expect(turn.ends("a")).toEqual(["start c"]);
  });

  test("continues at once when a slot is free", () => {
    verifies("PERM-13");
    const turn = begin();
    turn.call("a", "parallel");
    turn.step({ type: "asking", id: "a" });
    expect(turn.step({ type: "answered", id: "a" })).toEqual(["resume a"]);
  });

  test("is no reason for a later call to cross a write", () => {
    verifies("PERM-13", "SCHED-1");
    const turn = begin();
    turn.streamEnds();
    turn.calls({ w: "write", a: "parallel" });
    expect(turn.step({ type: "asking", id: "w" })).toEqual([]);
    expect(turn.step({ type: "answered", id: "w" })).toEqual(["resume w"]);
    expect(turn.ends("w")).toEqual(["start a"]);
  });

  test("a call denied by the user ends without its slot", () => {
    verifies("PERM-13", "SCHED-3");
    const turn = begin({ maxParallel: 1 });
    turn.calls({ a: "parallel", b: "parallel" });
    turn.step({ type: "asking", id: "a" });
    expect(turn.fails("a")).toEqual([]);
    expect(turn.call("c", "parallel")).toEqual([]);
    expect(turn.ends("b")).toEqual(["start c"]);
  });
});

describe("a changed input that makes a call something else", () => {
  test("a readonly call that becomes a write waits until it is first and nothing runs", () => {
    verifies("SCHED-1");
    const turn = begin({ maxParallel: 3 });
    turn.streamEnds();
    turn.calls({ a: "parallel", b: "parallel", c: "parallel", d: "parallel" });
    expect(turn.step({ type: "reclassified", id: "b", class: "write" })).toEqual([]);
    expect(turn.ends("a")).toEqual([]);
    expect(turn.ends("c")).toEqual(["resume b"]);
    expect(turn.ends("b")).toEqual(["start d"]);
  });

  test("and may go while the last of its neighbours waits for the user, who then waits for it", () => {
    verifies("SCHED-1", "PERM-13");
    const turn = begin();
    turn.streamEnds();
    turn.calls({ a: "parallel", b: "parallel" });
    turn.step({ type: "reclassified", id: "a", class: "write" });
    expect(turn.step({ type: "asking", id: "b" })).toEqual(["resume a"]);
    expect(turn.step({ type: "answered", id: "b" })).toEqual([]);
    expect(turn.ends("a")).toEqual(["resume b"]);
  });

  test("when it fails as a write, what began beside it and does not run is skipped", () => {
    verifies("SCHED-3");
    const turn = begin();
    turn.streamEnds();
    turn.calls({ a: "parallel", asks: "parallel", waits: "parallel", becomes: "parallel" });
    turn.step({ type: "reclassified", id: "a", class: "write" });
    turn.step({ type: "reclassified", id: "becomes", class: "write" });
    turn.step({ type: "asking", id: "waits" });
    expect(turn.step({ type: "asking", id: "asks" })).toEqual(["resume a"]);
    turn.step({ type: "answered", id: "waits" });
    expect(turn.fails("a")).toEqual([
      "skip asks because of a",
      "skip waits because of a",
      "skip becomes because of a",
    ]);
    expect(turn.step({ type: "answered", id: "asks" })).toEqual([]);
  });

  test("a call that runs on beside a stopped turn is skipped when it asks or becomes a write", () => {
    verifies("SCHED-3");
    const turn = begin();
    turn.streamEnds();
    turn.calls({ a: "parallel", b: "parallel", c: "parallel" });
    turn.step({ type: "reclassified", id: "a", class: "write" });
    expect(turn.fails("a")).toEqual([]);
    expect(turn.step({ type: "reclassified", id: "b", class: "write" })).toEqual([
      "skip b because of a",
    ]);
    expect(turn.step({ type: "asking", id: "c" })).toEqual(["skip c because of a"]);
  });

  test("a write that becomes harmless continues at once and its neighbours join it", () => {
    verifies("SCHED-1");
    const turn = begin();
    turn.streamEnds();
    turn.calls({ w: "write", a: "parallel" });
    expect(turn.step({ type: "reclassified", id: "w", class: "parallel" })).toEqual([
      "resume w",
      "start a",
    ]);
  });

  test("a call that stays what it was is not held up", () => {
    verifies("SCHED-1");
    const turn = begin();
    turn.call("a", "parallel");
    expect(turn.step({ type: "reclassified", id: "a", class: "parallel" })).toEqual([]);
    expect(turn.step({ type: "asking", id: "a" })).toEqual([]);
    expect(turn.step({ type: "answered", id: "a" })).toEqual(["resume a"]);
  });
});

describe("the state machine", () => {
  test("ignores events of calls that are unknown or have ended", () => {
    verifies("SCHED-9");
    const turn = begin();
    turn.call("a", "parallel");
    turn.ends("a");
    for (const id of ["a", "nobody"]) {
      expect(turn.step({ type: "classified", id, class: "parallel" })).toEqual([]);
      expect(turn.step({ type: "asking", id })).toEqual([]);
      expect(turn.step({ type: "answered", id })).toEqual([]);
      expect(turn.step({ type: "reclassified", id, class: "write" })).toEqual([]);
      expect(turn.step({ type: "refused", id, stops: true })).toEqual([]);
      expect(turn.fails(id, { cancelsSiblings: true })).toEqual([]);
    }
    expect(turn.call("b", "parallel")).toEqual(["start b"]);
  });

  test("a call arrives, is classified, asks and is answered once", () => {
    verifies("SCHED-9");
    const turn = begin();
    turn.call("a", "parallel");
    expect(turn.call("a", "parallel")).toEqual([]);
    expect(turn.step({ type: "answered", id: "a" })).toEqual([]);
    turn.step({ type: "asking", id: "a" });
    expect(turn.step({ type: "asking", id: "a" })).toEqual([]);
    expect(turn.step({ type: "answered", id: "a" })).toEqual(["resume a"]);
    expect(turn.step({ type: "answered", id: "a" })).toEqual([]);
  });

  test("two schedules know nothing of each other", () => {
    verifies("SCHED-9");
    const [one, other] = [begin({ maxParallel: 1 }), begin({ maxParallel: 1 })];
    expect(one.call("a", "parallel")).toEqual(["start a"]);
    expect(other.call("a", "parallel")).toEqual(["start a"]);
  });
});

/** A turn of calls, event by event; what the scheduler answers is written as short sentences. */
function begin(options: Partial<ScheduleOptions> = {}) {
  const schedule = new Schedule({ ...DEFAULTS, ...options });
  const step = (event: ScheduleEvent) => schedule.step(event).map(sentence);
  const call = (id: string, kind: CallClass) => [
    ...step({ type: "arrived", id }),
    ...step({ type: "classified", id, class: kind }),
  ];
  return {
    step,
    call,
    calls: (kinds: Record<string, CallClass>) =>
      Object.entries(kinds).flatMap(([id, kind]) => call(id, kind)),
    refused: (id: string, { stops } = { stops: false }) => [
      ...step({ type: "arrived", id }),
      ...step({ type: "refused", id, stops }),
    ],
    ends: (id: string) => step({ type: "ended", id, failed: false }),
    fails: (id: string, how: { cancelsSiblings?: boolean } = {}) =>
      step({ type: "ended", id, failed: true, ...how }),
    streamEnds: () => step({ type: "stream_ended" }),
  };
}

function sentence(action: ScheduleAction): string {
  const line = `${action.type} ${action.id}`;
  return "cause" in action ? `${line} because of ${action.cause}` : line;
}
