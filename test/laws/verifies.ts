// `verifies("PERM-2")` as the first line of a test's body says which laws that test proves.
// The ids travel on the test's meta to the reporter, which weighs them against laws.json.

import { TestRunner } from "vitest";
import { laws } from "./manifest.ts";

declare module "vitest" {
  interface TaskMeta {
    laws?: string[];
    /** What this machine has not, without which the test cannot be. */
    lacks?: string;
  }
}

const known = new Set(laws.map((law) => law.id));

export function verifies(...ids: [string, ...string[]]): void {
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw new Error(`Not in laws.json: ${unknown.join(", ")}`);
  const test = TestRunner.getCurrentTest();
  if (test === undefined) throw new Error("verifies() belongs in the body of a test");
  // Concurrent tests share "the current test", so the ids could land on a neighbour.
  if (test.concurrent === true) throw new Error("verifies() cannot be used in a concurrent test");
  test.meta.laws = [...(test.meta.laws ?? []), ...ids];
}
