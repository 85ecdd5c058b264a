// Whatever a handler returns is a value on record, bounded, or a failed call that says why not (DEF-7, RESULT-1,
// RESULT-4, RESULT-6).

import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { callBadly } from "./clear-end.ts";
import { boom, cyclic, nested, throwingProxy } from "./hostile-values.ts";
import { textOf } from "./world.ts";

describe("what a handler returns", () => {
  const good: [what: string, value: unknown, seen: unknown][] = [
    ["nothing", undefined, /returned nothing/],
    ["null", null, "null"],
    ["an empty string", "", ""],
    ["false", false, "false"],
    ["zero", 0, "0"],
    ["a Date", new Date(0), "1970-01-01"],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), '"a":1'],
    ["an object with a function in it", { a: 1, f: () => 1 }, '"a":1'],
    ["an object like a result, but not one", { content: "text", other: 1 }, '"other":1'],
    ["__proto__ as a key", JSON.parse('{"__proto__":{"admin":true},"b":1}'), '"b":1'],
  ];

  it.each(good)("may be odd and still be a value: %s", async (_what, value, seen) => {
    verifies("DEF-7", "RESULT-1");
    for (const answer of [() => value, async () => value]) {
      const { result } = await callBadly({ handler: answer });
      expect(result.status).toBe("succeeded");
      expect(textOf(result)).toMatch(seen instanceof RegExp ? seen : String(seen));
      expect(({} as { admin?: boolean }).admin).toBeUndefined();
    }
  });

  const bad: [what: string, value: () => unknown][] = [
    ["a cyclic object", cyclic],
    ["a cyclic list", () => [[cyclic()]]],
    ["a BigInt", () => 10n],
    ["an object with a BigInt", () => ({ n: 10n })],
    ["a function", () => () => 1],
    ["a symbol", () => Symbol("no")],
    ["a Map with something in it", () => new Map([["a", 1]])],
    ["a Set with something in it", () => new Set([1])],
    [
      "a getter that throws",
      () => ({
        get a() {
          return boom();
        },
      }),
    ],
    ["a toJSON that throws", () => ({ toJSON: boom })],
    ["a toJSON that answers nothing", () => ({ toJSON: () => undefined })],
    ["a proxy that throws", () => throwingProxy({})],
    ["a hundred thousand levels", () => nested(100_000, (inner) => [inner])],
    ["a result with content that is none", () => ({ ok: true, content: "text" })],
    ["a result with a block of no known type", () => ({ ok: true, content: [{ type: "video" }] })],
    ["a result with cyclic data", () => ({ ok: true, data: cyclic() })],
    ["a result with cyclic metadata", () => ({ ok: true, metadata: cyclic() })],
  ];

  it.each(bad)(
    "that cannot be written as JSON is a failed call that says so: %s",
    async (_what, make) => {
      verifies("DEF-7", "RESULT-1", "RESULT-4");
      for (const answer of [make, async () => make()]) {
        const { result } = await callBadly({ handler: answer });
        expect(result.status).toBe("failed");
      }
    },
  );

  it.each([1000, 5000, 20_000])(
    "may be %i levels deep without ending anything but its call",
    async (levels) => {
      verifies("DEF-7", "RESULT-1");
      const value = nested(levels, (inner) => ({ a: inner }));
      const { result } = await callBadly({ handler: () => value });
      expect(["succeeded", "failed"]).toContain(result.status);
    },
  );

  it("may report an error of its own in any shape", async () => {
    verifies("RESULT-4", "DEF-7");
    const errors: unknown[] = [
      "it did not work",
      {},
      { message: 5, code: {} },
      { code: "x", message: "m", error_class: 5, retryable: "yes", recovery: [], details: "none" },
      { code: "x", message: "m", details: { deep: [null] } },
      7,
    ];
    for (const error of errors) {
      const { result } = await callBadly({ handler: () => ({ ok: false, error }) });
      expect(result.status).toBe("failed");
      const { error_class, retryable, recovery, details } = result.error!;
      expect([typeof error_class, typeof retryable, typeof recovery]).toEqual([
        "string",
        "boolean",
        "string",
      ]);
      expect(["object", "undefined"]).toContain(typeof details);
    }
  });

  it.each([
    ["100 MB of text", () => "x".repeat(100_000_000), 100_000_000],
    ["a list of a million", () => Array.from({ length: 1_000_000 }, (_, i) => i), 6_888_891],
    ["a million short lines", () => "line\n".repeat(1_000_000), 5_000_000],
  ])("is bounded, and kept whole beside it: %s", async (_what, make, size) => {
    verifies("RESULT-6", "RESULT-1");
    const { result, stage } = await callBadly({ handler: make });
    expect(result.status).toBe("succeeded");
    expect(JSON.stringify(result).length).toBeLessThan(150_000);
    expect(result.artifacts).toMatchObject([{ size }]);
    expect(JSON.stringify(stage.facts()).length).toBeLessThan(300_000);
    expect(JSON.stringify(stage.journal.nodes).length).toBeLessThan(150_000);
  });

  it("too large even for the artifacts is cut, and says so", async () => {
    verifies("RESULT-6", "RESULT-1");
    const artifacts = {
      write: boom,
      open: boom,
      read: async () => undefined,
      stat: async () => undefined,
    };
    const { result } = await callBadly({ handler: () => "x".repeat(200_000) }, { artifacts });
    expect(result.status).toBe("succeeded");
    expect(textOf(result)).toContain("boom");
    expect(JSON.stringify(result).length).toBeLessThan(150_000);
  });
});
