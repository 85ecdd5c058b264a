// A test whose program is not installed is skipped, and the run ends with a line that says what is missing; with CI set that is
// a failure.

import { TestRunner } from "vitest";

/** After `verifies`, so that the ledger of laws knows what could not be shown here. */
export function skipTest(lacks: string): never {
  const test = TestRunner.getCurrentTest();
  if (test === undefined || (process.env["CI"] ?? "") !== "") {
    throw new Error(`This test needs ${lacks}.`);
  }
  test.meta.lacks = lacks;
  return test.context.skip(`needs ${lacks}`);
}
