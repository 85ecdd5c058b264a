import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { JsonValue } from "@soong/schema";
import { createRedactor } from "./redactor.ts";

describe("values", () => {
  test("are searched through and copied only where something was found", () => {
    verifies("REDACT-1");
    const value = { a: ["clean", { b: "has Xsecret in it" }], c: { d: "clean" }, n: 1, z: null };
    const before = JSON.stringify(value);
    const redactor = createRedactor({ secrets: [{ name: "X", value: "Xsecret" }] });
    const redacted = redactor.value(value);
    expect(redacted).toEqual({ ...value, a: ["clean", { b: "has [redacted:X] in it" }] });
    expect(JSON.stringify(value)).toBe(before);
    expect(redacted.c).toBe(value.c);
    expect(redactor.value(redacted)).toBe(redacted);
    expect(redactor.count).toBe(1);
  });

  test("that are clean come back as the same reference", () => {
    verifies("REDACT-1");
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const redactor = createRedactor({ secrets: [{ name: "N", value: "\u0000never\u0000" }] });
        expect(redactor.value(value as JsonValue)).toBe(value);
      }),
    );
  });

  test("are looked at as closely as each text in them", () => {
    verifies("REDACT-1");
    const key = `sk-ant-${"a1".repeat(15)}`;
    const secrets = ["Xsecret", "two words", 'q"uote', "back\\slash", "new\nline", "86753099"].map(
      (value, i) => ({ name: `S${i}`, value }),
    );
    const announced = `Authorization:\n\tBearer ${"b2".repeat(10)}`;
    const url = "https://u:pass@host";
    const pieces = [
      ...secrets.map(({ value }) => value),
      key,
      announced,
      url,
      "two+words",
      "%58secret",
    ];
    const noise = [
      "\n",
      "\t",
      '"',
      "\\",
      "\\n",
      "\\u0058",
      "\u0007",
      "\ud800",
      "n",
      ".",
      " ",
      "é",
      "{",
      "[",
    ];
    const text = fc
      .array(fc.constantFrom(...pieces, ...noise), { maxLength: 4 })
      .map((parts) => parts.join(""));
    const value = fc.array(fc.dictionary(text, fc.oneof(text, fc.array(text), fc.integer())));
    const redactor = createRedactor({ secrets });
    fc.assert(
      fc.property(
        value,
        fc.constantFrom("full" as const, "known_values" as const),
        (list, scope) => {
          const texts: string[] = [];
          JSON.stringify(list, (name, item: unknown) => {
            texts.push(name, ...(typeof item === "string" ? [item] : []));
            return item;
          });
          const isFound = texts.some((one) => redactor.finds(one, scope));
          const redacted = redactor.value(list, { scope });
          expect(redacted === list).toBe(!isFound);
          const seen = redactor.reversible(list);
          expect(seen.restore(seen.redacted)).toEqual(list);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("lose secrets in keys too, and no entry with them", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({ secrets: [{ name: "X", value: "Xsecret" }] });
    const escaped = Buffer.from("Xsecret").toString("base64");
    const redacted = redactor.value({ Xsecret: 1, "[redacted:X]": 2, [escaped]: 3, other: 4 });
    expect(Object.values(redacted)).toEqual([1, 2, 3, 4]);
    expect(JSON.stringify(redacted)).not.toMatch(/Xsecret/);
    const parsed = JSON.parse('{"__proto__": {"a": "Xsecret"}, "Xsecret": {}}') as JsonValue;
    expect(JSON.stringify(redactor.value(parsed))).toBe(
      '{"__proto__":{"a":"[redacted:X]"},"[redacted:X]":{}}',
    );
  });

  test("hide a known value that is there as a number", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({ secrets: [{ name: "PIN", value: "86753099" }] });
    expect(redactor.value({ pin: 86753099, n: 8675309 })).toEqual({
      pin: "[redacted:PIN]",
      n: 8675309,
    });
    const { redacted, restore } = redactor.reversible([86753099]);
    expect(restore(JSON.parse(JSON.stringify(redacted)) as JsonValue)).toEqual([86753099]);
  });

  test("that are nested without end are cut, not a crash", () => {
    verifies("REDACT-1");
    let deep: JsonValue = "Xsecret";
    for (let i = 0; i < 100_000; i += 1) deep = i % 2 === 0 ? [deep] : { deep };
    const redactor = createRedactor({ secrets: [{ name: "X", value: "Xsecret" }] });
    const redacted = JSON.stringify(redactor.value(deep));
    expect(redacted).toContain("[redacted:too_deep]");
    expect(redacted).not.toContain("Xsecret");
  });

  test("fields a schema calls sensitive go no matter what they hold", () => {
    verifies("REDACT-2");
    const redactor = createRedactor();
    const value = {
      password: "hunter2",
      nested: { pin: 1234, other: 1 },
      users: [
        { name: "a", keys: ["k"] },
        { name: "b", keys: null },
      ],
      headers: { any: "x", thing: "y" },
    };
    const sensitive = [
      ["password"],
      ["nested", "pin"],
      ["users", "*", "keys"],
      ["headers", "*"],
      ["absent"],
    ];
    const redacted = redactor.value(value, { sensitive });
    const hidden = "[redacted:sensitive]";
    expect(redacted).toEqual({
      password: hidden,
      nested: { pin: hidden, other: 1 },
      users: [
        { name: "a", keys: hidden },
        { name: "b", keys: hidden },
      ],
      headers: { any: hidden, thing: hidden },
    });
    expect(redactor.count).toBe(6);
    expect(redactor.value(redacted, { sensitive })).toBe(redacted);
    expect(redactor.value(value, { sensitive, scope: "known_values" })).toEqual(redacted);
    expect(redactor.value<JsonValue>({ a: 1 }, { sensitive: [[]] })).toBe(hidden);
    expect(redactor.value(["a", "b"], { sensitive: [["1"]] })).toEqual(["a", hidden]);
  });
});
