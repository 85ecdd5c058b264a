// Every link between the pages leads to a page that is there, and to a heading that is on it; and every page can be
// found from the index.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { verifies } from "#laws";
import { expect, test } from "vitest";

const docs = readdirSync("docs", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => join("docs", name));
const packages = readdirSync("packages").map((name) => join("packages", name, "README.md"));
const pages = [
  "README.md",
  "README.zh-CN.md",
  "CONTRIBUTING.md",
  ...docs,
  ...packages.filter((page) => existsSync(page)),
];

interface Link {
  readonly from: string;
  readonly to: string;
  readonly heading: string | undefined;
}

test("links between the pages lead somewhere", () => {
  verifies("DOC-1");
  const broken = linksOf(pages).filter(({ to, heading }) => !leadsSomewhere(to, heading));
  expect(broken).toEqual([]);
});

test("every page is linked from the index, or from a page that is", () => {
  verifies("DOC-1");
  const reached = new Set(["docs/README.md"]);
  for (const page of reached) {
    for (const { to } of linksOf([page])) if (docs.includes(to)) reached.add(to);
  }
  expect(docs.filter((page) => !reached.has(page))).toEqual([]);
});

test("the README has what a new user needs, and a picture for light and dark", () => {
  verifies("DOC-1");
  const readme = readFileSync("README.md", "utf8");
  for (const heading of ["two-commands", "five-minutes", "under-your-own-loop"]) {
    expect(headingsOf(readme)).toContain(heading);
  }
  const [, picture = ""] = /!\[[^\]]+\]\(([^)]+\.svg)\)/.exec(readme) ?? [];
  const drawn = readFileSync(picture, "utf8");
  expect(drawn).toContain("prefers-color-scheme: dark");
  expect(drawn).toMatch(/<title[^>]*>\S/);
});

test("the README has a sample on its first screen, and a tour without ids to copy", () => {
  verifies("DOC-1");
  const readme = readFileSync("README.md", "utf8");
  expect(readme.split("\n").indexOf("```sh")).toBeLessThan(20);
  expect(readme).not.toMatch(/\$(RUN|SESSION|CALL)|(run|session|call)_0/);
});

function linksOf(from: readonly string[]): Link[] {
  return from.flatMap((page) =>
    [
      ...withoutCode(readFileSync(page, "utf8")).matchAll(
        /\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g,
      ),
    ].map(([, path = "", heading]) => ({
      from: page,
      to: path === "" ? page : normalize(join(dirname(page), path)),
      heading,
    })),
  );
}

function leadsSomewhere(to: string, heading: string | undefined): boolean {
  if (!existsSync(to)) return false;
  return heading === undefined || headingsOf(readFileSync(to, "utf8")).includes(heading);
}

/** As they are named in an address. */
function headingsOf(page: string): string[] {
  return [...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, text = ""]) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

/** A link may have code as its label, and code may look like a link. */
function withoutCode(page: string): string {
  return prose(page).replaceAll(/(`+)(?!`).*?(?<!`)\1(?!`)/g, "");
}

function prose(page: string): string {
  return page.replaceAll(/^(`{3,})[^]*?^\1$/gm, "");
}
