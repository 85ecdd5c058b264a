import { expect, test } from "vitest";
import { findTrustWarnings } from "./load-config.ts";

test("a config of one's own, or of root, that only its owner can write is not doubted", () => {
  expect(findTrustWarnings({ uid: 1000, mode: 0o100644 }, 1000)).toEqual([]);
  expect(findTrustWarnings({ uid: 0, mode: 0o100644 }, 1000)).toEqual([]);
});

test("a config of another user is doubted, and so is one that others can write", () => {
  const [owner, writers] = findTrustWarnings({ uid: 1001, mode: 0o100666 }, 1000);
  expect(owner).toContain("belongs to the user with the id 1001");
  expect(writers).toContain("can be written by others");
  expect(findTrustWarnings({ uid: 1001, mode: 0o100600 }, 0)).toEqual([owner]);
});

test("where files have no owners nothing is doubted", () => {
  expect(findTrustWarnings({ uid: 7, mode: 0o100666 }, undefined)).toEqual([]);
});
