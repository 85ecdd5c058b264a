import { expect, test } from "vitest";
import { randomIds } from "./ports.ts";

test("random ids are made for their kind, are never the same, and sort as they were made", () => {
  const [ids, others] = [randomIds(), randomIds()];
  const made = Array.from({ length: 2000 }, () => ids.next("node"));
  expect(made.every((id) => id.startsWith("node_"))).toBe(true);
  expect(made.toSorted()).toEqual(made);
  const all = new Set([...made, ...Array.from({ length: 2000 }, () => others.next("node"))]);
  expect(all.size).toBe(4000);
});
