import { expect, test } from "vitest";
import { refuseClockOffset } from "./clock-offset.ts";

test("more than a third of the lease is refused, in either direction, with what to do", () => {
  for (const offset of [0, 20_000, -20_000]) refuseClockOffset(offset, 60_000);
  expect(() => refuseClockOffset(20_001, 60_000)).toThrow(
    "The clock of this machine is 20 s ahead of the database's; with a lease of 60 s at most 20 s are allowed. Set the clock, for example with NTP, and start the worker again.",
  );
  expect(() => refuseClockOffset(-300_000, 60_000)).toThrow("is 300 s behind the database's");
  expect(() => refuseClockOffset(Number.NaN, 60_000)).toThrow("the database sent no time");
});
