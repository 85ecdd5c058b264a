// What a browser has to load before the page is there.

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { verifies } from "#laws";
import { describe, expect, it, onTestFinished } from "vitest";
import { bundlePage } from "../../scripts/bundle-page.mjs";

const MOST_BYTES = 150_000;

describe("the page", () => {
  it("is at most 150 kB in all, compressed with gzip", async () => {
    verifies("UI-4");
    const folder = await mkdtemp(join(tmpdir(), "soong-page-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await bundlePage(folder);
    const files = (await readdir(folder)).filter((name) => !name.endsWith(".txt"));
    expect(files.toSorted()).toEqual(["index.html", "page.css", "page.js"]);
    const texts = await Promise.all(files.map((name) => readFile(join(folder, name))));
    const sizes = texts.map((text) => gzipSync(text).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MOST_BYTES);
  });
});
