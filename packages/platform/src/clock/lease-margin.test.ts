import { expect, test } from "vitest";
import { verifies } from "#laws";
import { KILL_BY_MS } from "../process/family.ts";
import { leaseMargin } from "./lease-margin.ts";

test("a holder stops early enough to end its commands, and late enough to renew a short lease twice", () => {
  verifies("TASK-4", "DIST-2");
  expect(leaseMargin(60_000)).toBeGreaterThan(KILL_BY_MS);
  for (const leaseMs of [1_000, 3_000, 60_000]) {
    expect(leaseMs - leaseMargin(leaseMs)).toBeGreaterThan((2 * leaseMs) / 3);
  }
});
