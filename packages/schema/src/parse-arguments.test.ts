import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { DEFAULT_ARGUMENT_LIMITS, parseArguments } from "./index.ts";

function code(raw: unknown, limits = DEFAULT_ARGUMENT_LIMITS): string {
  const parsed = parseArguments(raw, limits);
  return parsed.ok ? "ok" : parsed.code;
}

function message(raw: unknown): string {
  const parsed = parseArguments(raw);
  return parsed.ok ? "" : parsed.message;
}

describe("arguments as text", () => {
  test("are a JSON object and nothing else", () => {
    verifies("SCHEMA-4");
    expect(parseArguments(' {"a": [1, null, "x"]} ')).toEqual({
      ok: true,
      value: { a: [1, null, "x"] },
    });
    for (const text of ["[]", "null", "3", '"a"', "true"]) {
      expect(code(text)).toBe("arguments_not_object");
    }
    expect(message("[1]")).toBe("The arguments must be a JSON object, not an array.");
    expect(message(JSON.stringify('{"a":1}'))).toContain("encoded twice");
  });

  test("that are empty are not quietly an empty object", () => {
    verifies("SCHEMA-4");
    for (const text of ["", "  \n"]) {
      expect(code(text)).toBe("arguments_not_json");
      expect(message(text)).toContain("{}");
    }
  });

  test("that break off or have a slip say where", () => {
    verifies("SCHEMA-4");
    expect(message('{"path": "src/a.ts",\n "limit": 20')).toBe(
      'The arguments are not valid JSON: they end too early, after: ath": "src/a.ts", "limit": 20',
    );
    expect(message("{'a': 1}")).toContain("at character 1: { >>> 'a': 1}");
    expect(message(`{"a": ${"9".repeat(400)}x}`).length).toBeLessThan(200);
    expect(message('{"a": undefined}')).toContain("undefined");
  });

  test("are bounded in bytes, counted as UTF-8", () => {
    verifies("SCHEMA-8");
    const limits = { maxBytes: 100, maxDepth: 64 };
    const text = (filler: string): string => JSON.stringify({ a: filler });
    expect(code(text("x".repeat(92)), limits)).toBe("ok");
    expect(code(text("x".repeat(93)), limits)).toBe("arguments_too_large");
    expect(code(text("é".repeat(46)), limits)).toBe("ok");
    expect(code(text("é".repeat(47)), limits)).toBe("arguments_too_large");
    expect(code(text("😀".repeat(23)), limits)).toBe("ok");
    expect(code(text("😀".repeat(24)), limits)).toBe("arguments_too_large");
    expect(code(`{"a":"${"x".repeat(10_000_000)}"}`)).toBe("arguments_too_large");
    expect(code("x".repeat(10_000_000))).toBe("arguments_too_large");
  });

  test("are bounded in depth before they are parsed", () => {
    verifies("SCHEMA-8");
    const nested = (levels: number): string => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    expect(code(nested(63))).toBe("ok");
    expect(code(nested(64))).toBe("arguments_too_deep");
    expect(code(nested(10_000))).toBe("arguments_too_deep");
    expect(code('{"a":'.repeat(10_000))).toBe("arguments_too_deep");
    expect(code(JSON.stringify({ a: "[".repeat(500), b: '"{[\\'.repeat(90) }))).toBe("ok");
    expect(code(JSON.stringify({ a: Array.from({ length: 500 }, () => [{}]) }))).toBe("ok");
  });
});

describe("arguments that are parsed already", () => {
  test("are copied, so that no one can change them after the check", () => {
    verifies("SCHEMA-4");
    const given = { a: { b: [1] } };
    const parsed = parseArguments(given);
    given.a.b.push(2);
    expect(parsed).toEqual({ ok: true, value: { a: { b: [1] } } });
  });

  test("may come from another realm, or without a prototype", () => {
    verifies("SCHEMA-4");
    expect(parseArguments(runInNewContext("({ a: [{ b: 1 }] })"))).toEqual({
      ok: true,
      value: { a: [{ b: 1 }] },
    });
    expect(code(Object.create(null))).toBe("ok");
  });

  test("hold only what JSON can hold, and the place of anything else is named", () => {
    verifies("SCHEMA-4");
    class Thing {
      field = 1;
    }
    const odd: unknown[] = [
      undefined,
      () => 1,
      Symbol("s"),
      10n,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      new Date(0),
      new Map(),
      new Thing(),
      /x/,
      Promise.resolve(),
    ];
    for (const value of odd) {
      expect(code({ list: [{ deep: value }] })).toBe("arguments_not_json");
      expect(message({ list: [{ deep: value }] })).toContain("at list[0].deep");
    }
    for (const value of [null, undefined, 3, [], "x", () => 1, new Thing()]) {
      expect(code(value)).not.toBe("ok");
    }
  });

  test("that contain themselves, are endless or huge end in an answer", () => {
    verifies("SCHEMA-8");
    const cyclic: Record<string, unknown> = { name: "x" };
    cyclic["self"] = { back: [cyclic] };
    expect(code(cyclic)).toBe("arguments_not_json");
    expect(message(cyclic)).toContain("contains itself at self.back[0]");
    let deep: unknown = {};
    for (let level = 0; level < 10_000; level += 1) deep = { deep };
    expect(code(deep)).toBe("arguments_too_deep");
    let doubled: unknown = { leaf: "x" };
    for (let level = 0; level < 50; level += 1) doubled = { a: doubled, b: doubled };
    expect(code(doubled)).toBe("arguments_too_large");
    expect(code({ a: "x".repeat(10_000_000) })).toBe("arguments_too_large");
    expect(code({ a: Array.from({ length: 2_000_000 }, () => 1) })).toBe("arguments_too_large");
  });

  test("that throw when they are read are refused", () => {
    verifies("SCHEMA-4");
    const thrower = {
      get a() {
        throw new Error("no");
      },
    };
    expect(code(thrower)).toBe("arguments_not_json");
  });
});

describe("keys that could reach a prototype", () => {
  test("__proto__ is refused at every depth, however it is spelled", () => {
    verifies("SCHEMA-4");
    for (const text of [
      '{"__proto__":{"admin":true}}',
      '{"a":[{"__proto__":1}]}',
      '{"\\u005f_proto__":{"admin":true}}',
      '{"__pr\\u006fto__":1,"__proto__":2}',
    ]) {
      expect(code(text)).toBe("arguments_not_json");
      expect(message(text)).toContain("__proto__");
      expect(code(JSON.parse(text))).toBe("arguments_not_json");
    }
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  });

  test("a larger bound on the depth does not end the stack", () => {
    verifies("SCHEMA-8");
    const limits = { maxBytes: 1_000_000, maxDepth: 100_000 };
    const text = `{"__proto_":"__proto__","a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
    expect(code(text, limits)).toBe("ok");
    expect(code(JSON.parse(text), limits)).toBe("arguments_too_deep");
  });

  test("text that only mentions it is fine, and so are constructor and prototype", () => {
    verifies("SCHEMA-4");
    const value = { code: "x.__proto__ = {}", constructor: { prototype: { a: 1 } } };
    expect(parseArguments(JSON.stringify(value))).toEqual({ ok: true, value });
    expect(parseArguments(value)).toEqual({ ok: true, value });
  });

  test("an escaped spelling anywhere in the name is found", () => {
    verifies("SCHEMA-4");
    const name = "__proto__";
    const escape = (char: string): string =>
      `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }), (escaped) => {
        const key = Array.from(name, (char, index) => (escaped[index] ? escape(char) : char)).join(
          "",
        );
        expect(code(`{"a":{"${key}":1}}`)).toBe("arguments_not_json");
      }),
    );
  });
});

describe("parsing, over random values", () => {
  test("gives back exactly what was written, both ways in", () => {
    verifies("SCHEMA-4");
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (given) => {
        const text = JSON.stringify(given);
        const value: unknown = JSON.parse(text);
        const expected = text.includes('"__proto__":') ? { ok: false } : { ok: true, value };
        expect(parseArguments(text)).toMatchObject(expected);
        expect(parseArguments(JSON.parse(text))).toMatchObject(expected);
      }),
    );
  });
});
