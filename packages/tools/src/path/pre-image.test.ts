import { mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";

import { type Opening, platformOpening } from "./pinned-node.ts";
import { couldHideAWrite, isStill, readPreImage } from "./commit-file.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "soong-pre-image-")));
  path = join(folder, "a");
  writeFileSync(path, "old");
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

test("a write in the same tick of the clock as the one before the read could hide", () => {
  verifies("EDIT-6");
  const stats = statSync(path, { bigint: true });
  const readAt = (milliseconds: number) => ({
    sha256: "",
    stats,
    readAtMs: Number(stats.ctimeNs / 1_000_000n) + milliseconds,
  });
  expect([0, 10, 19, 20, 1000].map((later) => couldHideAWrite(readAt(later)))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

test("a file is read again where its times could hide a write, and only there", async () => {
  verifies("EDIT-6");
  let pins = 0;
  const counting: Opening = {
    pin(name, judged) {
      pins += 1;
      return platformOpening.pin(name, judged);
    },
  };
  const target = { path, name: path, opening: counting };
  const image = (await readPreImage(target))!;
  const changed = Number(image.stats.ctimeNs / 1_000_000n);
  expect(await isStill({ ...image, readAtMs: changed + 1000 }, target)).toBe(true);
  expect(pins).toBe(1);
  expect(await isStill({ ...image, readAtMs: changed }, target)).toBe(true);
  expect(pins).toBe(2);
  // The same times, other bytes: as if the clock had stood still.
  expect(await isStill({ ...image, sha256: "other", readAtMs: changed }, target)).toBe(false);
});
