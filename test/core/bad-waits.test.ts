// Handlers that answer through foreign promises, yield for ever or do not listen: each call ends, in its time
// (RESULT-1, DEF-7, PIPE-1, PIPE-5).

import { createHeldClock, createKernel, type HeldClock } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { callBadly } from "./clear-end.ts";
import {
  answersWithItself,
  boom,
  cyclic,
  forever,
  withThen,
  withThrowingThen,
} from "./hostile-values.ts";
import { textOf } from "./world.ts";

describe("a promise a handler returns", () => {
  class OtherPromise<T> extends Promise<T> {}

  const ways: [what: string, make: () => unknown, status: string][] = [
    ["a then that throws when looked at", withThrowingThen, "failed"],
    ["a then that throws when called", () => withThen({}, boom), "failed"],
    [
      "a then that calls back twice",
      () =>
        withThen({}, (take) => {
          take("first");
          take("second");
        }),
      "succeeded",
    ],
    [
      "a then that fails and then succeeds",
      () =>
        withThen({}, (take, fail) => {
          fail(new Error("no"));
          take("yes");
        }),
      "failed",
    ],
    [
      "a then that calls back and throws",
      () =>
        withThen({}, (take) => {
          take("first");
          boom();
        }),
      "succeeded",
    ],
    ["a then that never calls back", () => withThen({}, () => {}), "timed_out"],
    [
      "a then that answers with a then",
      () => withThen({}, (take) => take(withThen({}, (inner) => inner("deep")))),
      "succeeded",
    ],
    ["a then that answers with itself", answersWithItself, "timed_out"],
    [
      "a function with a then",
      () =>
        withThen(
          () => 1,
          (take) => take("called"),
        ),
      "succeeded",
    ],
    [
      "a promise with a then of its own that throws",
      () => withThen(Promise.resolve(1), boom),
      "failed",
    ],
    [
      "a promise with a then of its own that is deaf",
      () => withThen(Promise.resolve(1), () => {}),
      "timed_out",
    ],
    [
      "a promise behind a proxy that hides what it is",
      () =>
        new Proxy(
          withThen({}, (take) => take("hidden")),
          { getPrototypeOf: boom },
        ),
      "succeeded",
    ],
    ["a promise of another class", () => OtherPromise.resolve("other"), "succeeded"],
    ["a promise that never settles", forever, "timed_out"],
  ];

  it.each(ways)("may be anything: %s", async (_what, make, status) => {
    verifies("RESULT-1", "PIPE-1", "PIPE-5");
    const { result } = await callBadly({ handler: make, timeout_ms: 5000 });
    expect(result.status).toBe(status);
    if (status === "succeeded") expect(textOf(result)).not.toBe("second");
  });
});

describe("a handler that yields", () => {
  it.each([
    ["nonsense", [5, null, undefined, "text", Symbol("x"), [], { progress: "x", data: cyclic() }]],
    [
      "something that throws",
      [
        {
          get message() {
            return boom();
          },
        },
      ],
    ],
  ])("%s still ends", async (_what, values) => {
    verifies("DEF-7", "RESULT-1");
    const { result } = await callBadly({
      async *handler() {
        yield* values as never[];
        return "done";
      },
    });
    expect(["succeeded", "failed"]).toContain(result.status);
  });

  it.each([
    ["a next that throws", { next: boom }],
    ["a next that answers nothing", { next: () => undefined }],
    ["a next that never answers", { next: forever }],
    ["a return that throws", { next: forever, return: boom }],
    ["a return that never answers", { next: forever, return: forever }],
  ])("through %s ends all the same", async (_what, generator) => {
    verifies("RESULT-1", "PIPE-5");
    const handler = () => ({ ...generator, [Symbol.asyncIterator]: () => generator });
    const { result } = await callBadly({ handler, timeout_ms: 1000 });
    expect(result.is_error).toBe(true);
  });

  it("for ever ends with its time, and its progress does not fill the journal", async () => {
    verifies("PIPE-5", "RESULT-1");
    const held = createHeldClock();
    // On a clock that stands still a loop without a pause takes no time: here the shortest pause takes some.
    const clock: HeldClock = {
      ...held,
      get pending() {
        return held.pending;
      },
      after: (ms, callback) => held.after(Math.max(1, ms), callback),
    };
    let closed = false;
    const { result, stage } = await callBadly(
      {
        timeout_ms: 5000,
        async *handler() {
          try {
            for (let i = 0; ; i += 1) yield { message: `step ${i}` };
          } finally {
            closed = true;
          }
        },
      },
      { clock },
    );
    expect(result.status).toBe("timed_out");
    expect(closed).toBe(true);
    expect(stage.facts("tool.progress").length).toBeLessThan(200);
  });

  it("for ever, in real time, lets everyone else continue and ends with its time", async () => {
    verifies("PIPE-5", "RESULT-1");
    let others = 0;
    const beat = setInterval(() => (others += 1), 1);
    const kernel = createKernel({
      tools: [
        {
          name: "a.endless",
          description: "Yields for ever",
          input_schema: { type: "object" },
          permission: "readonly",
          timeout_ms: 50,
          async *handler() {
            for (;;) yield {};
          },
        },
      ],
    });
    const run = await kernel.startRun();
    const result = await run.call("a.endless", {});
    clearInterval(beat);
    expect(result.status).toBe("timed_out");
    expect(others).toBeGreaterThan(0);
  });
});

describe("a handler that does not listen", () => {
  it("is ended by its time, and what it says later is late", async () => {
    verifies("PIPE-5", "RESULT-1");
    let finish: ((value: unknown) => void) | undefined;
    const { result, stage } = await callBadly({
      timeout_ms: 1000,
      handler: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    expect(result.status).toBe("timed_out");
    finish?.("at last");
    await stage.clock.settle();
    expect(stage.storyOf("1").at(-1)).toBe("tool.late");
  });
});
