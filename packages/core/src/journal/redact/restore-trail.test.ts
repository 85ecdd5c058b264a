import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { JsonValue } from "@soong/schema";
import { createRedactor } from "./redactor.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 10_000 : 300;

/** Keys in the shape of real ones, put together here so that no scanner takes them for such. */
const body = (length: number) => "a1B2c3D4e5F6g7H8i9J0".repeat(10).slice(0, length);
const NPM_TOKEN = `npm_${body(36)}`;
const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${body(43)}`;

describe("a reversible copy", () => {
  const secrets = [{ name: "X", value: "Xsecret" }];

  test("gives back the real values where placeholders come back, moved or not", () => {
    verifies("REDACT-1");
    const value = { url: "http://h/?t=Xsecret", list: ["keep"], Xsecret: { id: "Xsecret" } };
    const { redacted, restore } = createRedactor({ secrets }).reversible(value);
    expect(JSON.stringify(redacted)).not.toContain("Xsecret");
    expect(restore(redacted)).toBe(value);
    const copy = JSON.parse(JSON.stringify(redacted)) as Record<string, JsonValue>;
    expect(restore(copy)).toEqual(value);
    copy["url"] = "https://other/?t=[redacted:X]&u=$&";
    copy["list"] = ["new", "[redacted:X]"];
    expect(restore(copy)).toEqual({
      url: "https://other/?t=Xsecret&u=$&",
      list: ["new", "Xsecret"],
      Xsecret: { id: "Xsecret" },
    });
  });

  test("puts nothing in place of what it did not make", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({ secrets });
    redactor.reversible({ other: "Xsecret" });
    const { restore } = redactor.reversible({ a: "clean" });
    expect(restore({ a: "[redacted:X]" })).toEqual({ a: "[redacted:X]" });
    const second = redactor.reversible({ a: "Xsecret", b: NPM_TOKEN });
    expect(
      second.restore({ a: "[redacted:Y] [redacted:npm_token#2] [redacted:sensitive]" }),
    ).toEqual({
      a: "[redacted:Y] [redacted:npm_token#2] [redacted:sensitive]",
    });
  });

  test("never turns a placeholder that was there literally into the secret", () => {
    verifies("REDACT-1");
    const value = { real: "Xsecret", model: "write [redacted:X] here", "[redacted:X]": 1 };
    const { redacted, restore } = createRedactor({ secrets }).reversible(value);
    expect(restore(JSON.parse(JSON.stringify(redacted)) as JsonValue)).toEqual(value);
    expect(restore({ model: "now write [redacted:X] here" })).toEqual({
      model: "now write [redacted:X] here",
    });
  });

  test("knows sensitive fields by their place, and by their placeholder when there is only one", () => {
    verifies("REDACT-2");
    const redactor = createRedactor();
    const one = redactor.reversible({ password: { deep: 1 }, to: "x" }, [["password"]]);
    expect(one.redacted).toEqual({ password: "[redacted:sensitive]", to: "x" });
    expect(one.restore({ moved: "[redacted:sensitive]" })).toEqual({ moved: { deep: 1 } });
    const literal = redactor.reversible({ a: "[redacted:sensitive]", b: "p" }, [["a"], ["b"]]);
    expect(literal.restore({ c: "[redacted:sensitive]" })).toEqual({ c: "[redacted:sensitive]" });
    expect(one.restore({ text: "is [redacted:sensitive]" })).toEqual({
      text: "is [redacted:sensitive]",
    });
    const two = redactor.reversible({ a: "p", b: "q", c: 1 }, [["a"], ["b"]]);
    expect(two.restore({ b: "[redacted:sensitive]", c: 2, d: "[redacted:sensitive]" })).toEqual({
      b: "q",
      c: 2,
      d: "[redacted:sensitive]",
    });
  });

  test("for any value, what comes back unchanged is the value", () => {
    verifies("REDACT-1");
    const text = fc
      .array(fc.constantFrom("Xsecret", "a", "[redacted:X]", "WHNlY3JldA==", JWT), {
        maxLength: 4,
      })
      .map((parts) => parts.join(" "));
    const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.constant(null),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(fc.oneof(text, fc.constantFrom("__proto__", "k")), tie("tree"), {
          maxKeys: 4,
        }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const { redacted, restore } = createRedactor({ secrets }).reversible(value, [
          ["k"],
          ["*", "k"],
        ]);
        expect(JSON.stringify(redacted)).not.toContain("Xsecret");
        expect(restore(redacted)).toEqual(value);
        const copied = JSON.parse(JSON.stringify(redacted)) as JsonValue;
        expect(JSON.stringify(restore(copied))).toBe(JSON.stringify(value));
      }),
      { numRuns },
    );
  });
});
