import { expect, test } from "vitest";
import { openOnce } from "./open-once.ts";

test("is opened once, however many use it at once, and again only after a failure", async () => {
  let opened = 0;
  const use = openOnce(async () => {
    opened += 1;
    if (opened === 1) throw new Error("it is away");
    return opened;
  });
  expect(await use.opened()).toBeUndefined();
  const failed = await Promise.allSettled([use(), use(), use.opened()]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  expect(opened).toBe(1);
  expect(await Promise.all([use(), use(), use.opened()])).toEqual([2, 2, 2]);
  expect(await use()).toBe(2);
  expect(opened).toBe(2);
});
