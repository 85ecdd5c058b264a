// The README in Chinese says what the README says: the same headings, samples and links, in the same order.

import { readFileSync } from "node:fs";
import { verifies } from "#laws";
import { expect, test } from "vitest";

const english = readFileSync("README.md", "utf8");
const chinese = readFileSync("README.zh-CN.md", "utf8");

test("has the same headings, by level", () => {
  verifies("DOC-1");
  expect(levelsOf(chinese)).toEqual(levelsOf(english));
});

test("has the same samples, apart from their comments", () => {
  verifies("DOC-1", "DOC-2");
  expect(blocksOf(chinese)).toEqual(blocksOf(english));
  expect(blocksOf(english).length).toBeGreaterThan(10);
});

test("has the same paragraphs, list items and table rows", () => {
  verifies("DOC-1");
  expect(shapeOf(chinese)).toEqual(shapeOf(english));
});

test("has the same links and pictures, apart from those between the two", () => {
  verifies("DOC-1");
  expect(linksOf(chinese)).toEqual(linksOf(english));
  expect(chinese).toContain("[English](README.md)");
  expect(english).toContain("[简体中文](README.zh-CN.md)");
});

test("names the same commands, settings and files between its words", () => {
  verifies("DOC-1");
  expect(namesOf(chinese)).toEqual(namesOf(english));
});

test("is in Chinese", () => {
  verifies("DOC-1");
  const untranslated = proseOf(chinese)
    .split(/\n{2,}/)
    .filter((text) => /\w+ \w+ \w+ \w+/.test(text) && !/\p{Script=Han}/u.test(text));
  expect(untranslated).toEqual([]);
});

function levelsOf(page: string): number[] {
  return [...proseOf(page).matchAll(/^(#+) /gm)].map(([, marks = ""]) => marks.length);
}

/** Each with its language and the line before it, where that is for the tests. */
function blocksOf(page: string): string[] {
  return [...page.matchAll(/(<!--.+-->\n+)?^```(\w+)\n([^]*?)^```$/gm)].map(
    ([, marker = "", language = "", code = ""]) =>
      `${marker.trim()}${language}\n${code.replaceAll(/ *(?:#|\/\/) .*$/gm, "")}`,
  );
}

/** What each paragraph is, without its words. */
function shapeOf(page: string): string[] {
  return proseOf(page)
    .split(/\n{2,}/)
    .filter((text) => text.trim() !== "")
    .flatMap((text) => (text.startsWith("- ") ? text.split(/\n(?=- )/) : [text]))
    .map((text) => /^(#+|-|\||!|<[^ >]*|\*\*)/.exec(text)?.[0] ?? "text");
}

function linksOf(page: string): string[] {
  return [...proseOf(page).matchAll(/\]\(([^)]+)\)|(?:src|srcset)="([^"]+)"/g)]
    .map(([, link, source]) => link ?? source ?? "")
    .filter((link) => !link.startsWith("README"))
    .toSorted();
}

function namesOf(page: string): string[] {
  return [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map(([, name = ""]) => name).toSorted();
}

function proseOf(page: string): string {
  return page.replaceAll(/^```[^]*?^```$/gm, "");
}
