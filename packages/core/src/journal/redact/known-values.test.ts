import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../../../test/any-character.ts";
import { createRedactor } from "./redactor.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 10_000 : 300;

const TOKEN = 'q8Zr/f+7 Lp"2\\w\nÄ😀';
const withToken = () => createRedactor({ secrets: [{ name: "MY_TOKEN", value: TOKEN }] });

describe("known values", () => {
  test("become a placeholder with their name, the same one every time", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({
      secrets: [
        { name: "GITHUB_TOKEN", value: "hunter-two-2" },
        { name: "odd name!", value: "another-one" },
      ],
    });
    expect(redactor.text("a hunter-two-2 b hunter-two-2")).toBe(
      "a [redacted:GITHUB_TOKEN] b [redacted:GITHUB_TOKEN]",
    );
    expect(redactor.text("xanother-onex")).toBe("x[redacted:odd_name_]x");
    expect(redactor.count).toBe(3);
  });

  test("are found in hex and in another case; an ordinary word in another case is left", () => {
    verifies("REDACT-3");
    const redactor = createRedactor({
      secrets: [
        { name: "KEY", value: "aB3dE5fG7h" },
        { name: "WORD", value: "evergreen" },
      ],
    });
    expect(redactor.text("AB3DE5FG7H ab3de5fg7h")).toBe("[redacted:KEY] [redacted:KEY]");
    expect(redactor.text("x61423364453566473768 y")).toBe("x[redacted:KEY] y");
    expect(redactor.text("61423364453566473768".toUpperCase())).toBe("[redacted:KEY]");
    expect(redactor.text("Evergreen EVERGREEN evergreen")).toBe(
      "Evergreen EVERGREEN [redacted:WORD]",
    );
  });

  test("are looked up anew for the next redactor when one of the list was replaced", () => {
    verifies("REDACT-1");
    const secrets = [{ name: "TOKEN", value: "first-value-1" }];
    const before = createRedactor({ secrets });
    expect(createRedactor({ secrets }).known).toBe(before.known);
    secrets[0] = { name: "TOKEN", value: "second-value-2" };
    const after = createRedactor({ secrets });
    expect(after.known).not.toBe(before.known);
    expect(after.text("second-value-2")).toBe("[redacted:TOKEN]");
    secrets.push({ name: "OTHER", value: "third-value-3" });
    expect(after.text("second-value-2 third-value-3")).toBe("[redacted:TOKEN] [redacted:OTHER]");
    expect(createRedactor({ secrets }).known).toBe(after.known);
  });

  test("that become known later are hidden from then on, numbers too, and what was hidden before stays so", () => {
    verifies("REDACT-1");
    const secrets = [{ name: "FIRST", value: "first-value-1" }];
    const redactor = createRedactor({ secrets });
    const later = { said: "first-value-1 second-value-2", count: 31_415_926 };
    expect(redactor.value(later)).toEqual({ ...later, said: "[redacted:FIRST] second-value-2" });
    secrets.push({ name: "NUMBER", value: "31415926" });
    expect(redactor.value([31_415_926])).toEqual(["[redacted:NUMBER]"]);
    secrets.push({ name: "SECOND", value: "second-value-2" });
    expect(redactor.finds("second-value-2", "known_values")).toBe(true);
    expect(redactor.value(later)).toEqual({
      said: "[redacted:FIRST] [redacted:SECOND]",
      count: "[redacted:NUMBER]",
    });
    // No placeholder may say one, whenever it came.
    secrets.push({ name: "THIRD", value: "ed:FIRST" });
    expect(redactor.text("first-value-1")).toBe("[redacted:x]");
  });

  test("go in both scopes and in every spelling", () => {
    verifies("REDACT-1");
    const spellings = [
      TOKEN,
      JSON.stringify(TOKEN),
      JSON.stringify({ body: JSON.stringify({ token: TOKEN }) }),
      JSON.stringify(JSON.stringify(JSON.stringify(TOKEN))),
      asciiJson(TOKEN),
      allEscaped(TOKEN),
      allEscaped(TOKEN).replace(/[0-9a-f]{4}/g, (hex) => hex.toUpperCase()),
      encodeURIComponent(TOKEN),
      encodeURIComponent(TOKEN).replace(/%../g, (byte) => byte.toLowerCase()),
      encodeURIComponent(encodeURIComponent(TOKEN)),
      encodeURIComponent(JSON.stringify(TOKEN)),
      new URLSearchParams({ token: TOKEN }).toString(),
      Buffer.from(TOKEN).toString("base64"),
      Buffer.from(TOKEN).toString("base64url"),
      encodeURIComponent(Buffer.from(TOKEN).toString("base64")),
      JSON.stringify(Buffer.from(TOKEN).toString("base64")).replaceAll("/", "\\/"),
      `Authorization: Basic ${Buffer.from(`user:${TOKEN}`).toString("base64")}`,
      Buffer.from(`{"a":"${TOKEN}"}`).toString("base64"),
    ];
    for (const spelling of spellings) {
      for (const scope of ["full", "known_values"] as const) {
        const redacted = withToken().text(`before ${spelling} after`, scope);
        expect(redacted).toContain("[redacted:MY_TOKEN]");
        expect(redacted).toMatch(/^before .* after$/);
        // Nothing but what surrounds the value in these spellings, and an end of base64, is left.
        expect(redacted.replace("[redacted:MY_TOKEN]", "").length).toBeLessThan(70);
      }
    }
  });

  test("of which one contains the other go as the longer one", () => {
    verifies("REDACT-1");
    const redactor = createRedactor({
      secrets: [
        { name: "SHORT", value: "abcdef" },
        { name: "LONG", value: "abcdef-ghijkl" },
        { name: "OTHER", value: "ijklmnop" },
      ],
    });
    expect(redactor.text("abcdef-ghijkl abcdef")).toBe("[redacted:LONG] [redacted:SHORT]");
    expect(redactor.text("abcdef-ghijklmnop")).toBe("[redacted:LONG]");
  });

  test("no known value survives in any text, in any spelling, and twice redacted is once redacted", () => {
    verifies("REDACT-1");
    const char = fc.oneof(
      fc.constantFrom(...Array.from("ab1%2\\\"'/+ -_\n\tué😀[:]")),
      fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
    );
    const piece = fc.string({ unit: char, maxLength: 12 });
    // Ends in a letter: a last backslash or percent sign would run into what follows.
    const secret = fc.string({ unit: char, minLength: 6, maxLength: 24 }).map((text) => `${text}x`);
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(piece, fc.nat(), fc.constantFrom(...SPELLINGS)), { maxLength: 4 }),
        fc.constantFrom("full" as const, "known_values" as const),
        (values, parts, scope) => {
          const secrets = values.map((value, i) => ({ name: `N${i}`, value }));
          const redactor = createRedactor({ secrets });
          const used = parts.map(([, pick, spell]) =>
            spell(values[pick % values.length] as string),
          );
          // A blank before each: half an escape in front would make it another spelling.
          const text = parts.map(([before], i) => `${before} ${used[i]}`).join(" ");
          const redacted = redactor.text(text, scope);
          for (const value of values) expect(redacted).not.toContain(value);
          for (const spelled of used) expect(redacted).not.toContain(spelled);
          expect(redactor.text(redacted, scope)).toBe(redacted);
        },
      ),
      { numRuns },
    );
  });
});

/** As a serialiser that only writes ASCII does. */
function asciiJson(text: string): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replace(/[^ -~]/g, (char) => unicodeEscape(char));
}

function allEscaped(text: string): string {
  return text.split("").map(unicodeEscape).join("");
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function wellFormed(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

const SPELLINGS: ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  asciiJson,
  allEscaped,
  (text) => encodeURIComponent(wellFormed(text)),
  (text) => Buffer.from(text).toString("base64"),
  (text) => Buffer.from(text).toString("base64url"),
];

test("a value of several lines is found line by line, as a diff shows it", () => {
  verifies("REDACT-1");
  const value = "-----BEGIN KEY-----\nline1secretAAAA\nline2secretBBBB\nshort\n-----END KEY-----";
  const redactor = createRedactor({ secrets: [{ name: "KEY", value }] });
  expect(redactor.text(value)).toBe("[redacted:KEY]");
  const diff = value.replaceAll(/^/gm, "+");
  expect(redactor.text(diff)).toBe(
    "+-----BEGIN KEY-----\n+[redacted:KEY]\n+[redacted:KEY]\n+short\n+-----END KEY-----",
  );
});
