import { expect, it } from "vitest";
import { fitsTemplate } from "./listed-items.ts";

it.each([
  ["note://7/page", "note://{id}/page", true],
  ["note:///page", "note://{id}/page", true],
  ["note://7/8/page", "note://{id}/page", true],
  ["note://7/pages", "note://{id}/page", false],
  ["other://7/page", "note://{id}/page", false],
  ["note://a", "note://a", true],
  ["note://ab", "note://a", false],
  ["file:///etc/hosts", "file://{+path}", true],
  ["a/b/c", "a/{x}/b/{y}/c", false],
  ["a/1/b/2/c", "a/{x}/b/{y}/c", true],
  ["aba", "ab{x}ba", false],
])("%s against %s: %s", (uri, template, fits) => {
  expect(fitsTemplate(uri, template)).toBe(fits);
});
