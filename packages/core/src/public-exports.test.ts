import { expect, test } from "vitest";
import * as core from "./index.ts";
import * as internal from "./internal/index.ts";

test("the kernel has few public values, and none of them is internal, too", () => {
  expect(Object.keys(core).length).toBeLessThanOrEqual(70);
  expect(Object.keys(internal).filter((name) => name in core)).toEqual([]);
});
