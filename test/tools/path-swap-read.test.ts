// PATH-1 against a second process that swaps what was judged for a link that leads out: never one byte of
// the outside file is read.

import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openRegularFile, readWholeFile } from "../../packages/tools/src/path/index.ts";
import { race, swapStage, type SwapStage } from "./path-race.ts";

const OPENS = process.env.SOONG_TEST_FULL === "1" ? 50_000 : 500;
const PAUSE_MS = 2;

let stage: SwapStage;

beforeEach(async () => {
  stage = await swapStage();
});

afterEach(async () => {
  await stage.second.remove();
});

test.each(["file", "directory"] as const)(
  "a %s swapped for a link all the time is read only where it was judged to be",
  async (what) => {
    verifies("PATH-1");
    await stage.swap(what, PAUSE_MS);
    const { refusals } = await race(OPENS, async () => {
      const opened = await openRegularFile(stage.file);
      try {
        expect(await opened.handle.readFile("utf8")).toBe("inside");
      } finally {
        await opened.close();
      }
      const whole = await readWholeFile(stage.file, { maxBytes: 100 });
      expect(whole?.bytes.toString() ?? "inside").toBe("inside");
    });
    expect(["file_not_found", "not_a_regular_file", "path_changed"]).toEqual(
      expect.arrayContaining(refusals),
    );
  },
);
