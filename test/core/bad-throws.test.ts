// Whatever a handler throws ends its call as failed, with an error someone can read (RESULT-1, RESULT-4, PIPE-1).

import { ToolFailure, type AnyTool } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { callBadly } from "./clear-end.ts";
import { boom, cyclic, revokedProxy, throwingProxy } from "./hostile-values.ts";

function errorWith(properties: PropertyDescriptorMap): Error {
  return Object.defineProperties(new Error("odd"), properties);
}

describe("what a handler throws", () => {
  const thrown: [what: string, make: () => unknown][] = [
    ["undefined", () => undefined],
    ["null", () => null],
    ["nothing to say", () => ""],
    ["an error without a message", () => new Error("")],
    ["a number", () => 0],
    ["a BigInt", () => 1n],
    ["a symbol", () => Symbol("no")],
    ["a function", () => () => "no"],
    ["a plain object", () => ({ code: 5 })],
    ["an object without a prototype", () => Object.create(null) as object],
    ["a toString that throws", () => ({ toString: boom })],
    ["a cyclic object", () => cyclic()],
    ["a frozen error", () => Object.freeze(new Error("frozen"))],
    ["an error whose message throws", () => errorWith({ message: { get: boom } })],
    ["an error whose message is an object", () => errorWith({ message: { value: { a: 1 } } })],
    ["an error whose message is a symbol", () => errorWith({ message: { value: Symbol("no") } })],
    [
      "an error whose name is a number",
      () => errorWith({ message: { value: "" }, name: { value: 7 } }),
    ],
    ["an error with a cause that is itself", () => errorWith({ cause: { value: cyclic() } })],
    ["a proxy that throws", () => throwingProxy({})],
    ["a proxy of an error that throws", () => throwingProxy(new Error("no"))],
    ["a revoked proxy", revokedProxy],
    ["a promise that fails", silentRejection],
    ["a message of a megabyte", () => new Error("x".repeat(1_000_000))],
    ["an error with a stack", () => new Error("one line")],
    ["an AggregateError", () => new AggregateError([new Error("a"), 5], "several")],
    [
      "a failure with odd content",
      () => new ToolFailure({ code: "odd", message: "odd" }, [5, null] as never),
    ],
    [
      "a failure without a message",
      () => new ToolFailure({ code: "odd", message: undefined as never }),
    ],
    [
      "a failure with a cyclic detail",
      () => new ToolFailure({ code: "odd", message: "odd", details: cyclic() as never }),
    ],
    [
      "a failure whose code is not one",
      () => new ToolFailure({ code: 5 as never, message: "odd" }),
    ],
  ];

  function silentRejection(): Promise<never> {
    const rejected = Promise.reject(new Error("inner"));
    rejected.catch(() => {});
    return rejected;
  }

  it.each(thrown)("ends its call as failed, at once or later: %s", async (_what, make) => {
    verifies("RESULT-1", "RESULT-4", "PIPE-1");
    const handlers: Pick<AnyTool, "handler">[] = [
      {
        handler() {
          throw make();
        },
      },
      { handler: () => Promise.reject(make()) },
      {
        // oxlint-disable-next-line require-yield
        async *handler() {
          throw make();
        },
      },
    ];
    for (const about of handlers) {
      const { result, stage } = await callBadly(about);
      expect(result).toMatchObject({ status: "failed", is_error: true });
      expect(stage.storyOf("1").filter((type) => type === "tool.failed")).toHaveLength(1);
    }
  });

  it("may be an exact error of its own choice", async () => {
    verifies("RESULT-4", "DEF-7");
    const error = {
      code: "disk_full",
      message: "no room",
      retryable: true,
      recovery: "retry_after_delay" as const,
    };
    const { result } = await callBadly({ handler: () => Promise.reject(new ToolFailure(error)) });
    expect(result.error).toMatchObject(error);
  });

  it("may be an exact error of its validate or prepare, too", async () => {
    verifies("RESULT-4");
    for (const stage of ["validate", "prepare"] as const) {
      const failing = () => {
        throw new ToolFailure({ code: "no_such_file", message: "it is gone" });
      };
      const { result } = await callBadly({ [stage]: failing });
      expect(result.error, stage).toMatchObject({ code: "no_such_file" });
      expect(result.error?.message).toContain("it is gone");
    }
  });
});
