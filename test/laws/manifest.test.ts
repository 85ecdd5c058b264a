import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { laws } from "./manifest.ts";

const ids = laws.map((law) => law.id);

test("every law has an id of its own, one sentence, a source and a status", () => {
  expect(new Set(ids).size).toBe(ids.length);
  for (const law of laws) {
    expect(law.id).toMatch(/^[A-Z]+-[1-9][0-9]*$/);
    expect(law.sentence, law.id).toMatch(/^\S[^\n]+\.$/);
    expect(law.source, law.id).toMatch(/^(spec|(S[0-4]|\+)(,(S[0-4]|\+))*)$/);
    expect(["done", "partly", "open"], law.id).toContain(law.status);
    expect(law.missing !== undefined, law.id).toBe(law.status === "partly");
  }
});

test("no law is missing: a family's numbers run without a gap, and the pages name no other", () => {
  for (const id of ids) {
    const [family, number] = id.split("-");
    if (number !== "1") expect(ids).toContain(`${family}-${Number(number) - 1}`);
  }
  // Where the pages of the specification are at hand, SOONG_SPEC names their folder.
  const pages = process.env.SOONG_SPEC;
  const expected = pages === undefined ? ids : lawsOfPages(pages);
  expect(ids.toSorted()).toEqual(expected.toSorted());
});

function lawsOfPages(folder: string): string[] {
  const pages = readdirSync(folder).filter((name) => /^\d.*\.md$/.test(name));
  const texts = pages.map((name) => readFileSync(join(folder, name), "utf8"));
  return texts.flatMap((text) => text.match(/(?<=^- )[A-Z]+-\d+\b/gm) ?? []);
}
