import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { parseTemplate, templateName } from "./template.ts";

test("texts and fields are distinguished, with their places", () => {
  verifies("DECL-3");
  expect(parseTemplate("a {{args.b}}{{args.c.d-e}}}")).toEqual({
    ok: true,
    parts: [
      { kind: "text", text: "a " },
      { kind: "field", path: ["b"], start: 2, end: 12 },
      { kind: "field", path: ["c", "d-e"], start: 12, end: 26 },
      { kind: "text", text: "}" },
    ],
  });
});

test.each([
  "{{input.a}}",
  "{{ args.a }}",
  "{{args}}",
  "{{args.}}",
  "{{args.a..b}}",
  "{{args.1a}}",
  "{{args.a b}}",
  "{{args.a",
  "{{args.a}",
  "{{env.HOME}}",
  "{{",
  "{{{args.a}}}",
  "x {{.Names}} y",
  "{args.a}",
  "{args.a}}",
  "ok {{args.a}} and {{oops}}",
])("%j is refused instead of being passed on", (text) => {
  verifies("DECL-3");
  expect(parseTemplate(text).ok).toBe(false);
});

test("every mistake in a text is reported, with what was found", () => {
  verifies("DECL-3");
  const parsed = parseTemplate("{{a}} {{b}} {args.c}");
  expect(parsed.ok ? [] : parsed.problems).toEqual([
    expect.stringContaining('"{{a}}"'),
    expect.stringContaining('"{{b}}"'),
    expect.stringContaining("{args.c}; a template has two braces: {{args.c}}"),
  ]);
});

test("plain braces are text", () => {
  verifies("DECL-3");
  for (const text of ['{"a":{"b":1}}', "${x}", "awk {print}", "}}", "{ {", ""]) {
    const parts = text === "" ? [] : [{ kind: "text", text }];
    expect(parseTemplate(text)).toEqual({ ok: true, parts });
  }
});

test("what was put together comes apart again", () => {
  verifies("DECL-3");
  const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,8}$/);
  const field = fc.array(name, { minLength: 1, maxLength: 3 }).map((path) => ({ path }));
  const text = fc.stringMatching(/^[^{}]{1,8}$/).map((literal) => ({ literal }));
  fc.assert(
    fc.property(fc.array(fc.oneof(field, text)), (pieces) => {
      const written = pieces
        .map((piece) => ("path" in piece ? templateName(piece.path) : piece.literal))
        .join("");
      const parsed = parseTemplate(written);
      const read = parsed.ok ? parsed.parts : [];
      expect(
        read.map((part) => (part.kind === "field" ? templateName(part.path) : part.text)).join(""),
      ).toBe(written);
      expect(read.flatMap((part) => (part.kind === "field" ? [part.path] : []))).toEqual(
        pieces.flatMap((piece) => ("path" in piece ? [piece.path] : [])),
      );
    }),
  );
});
