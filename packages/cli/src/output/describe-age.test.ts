import { expect, test } from "vitest";
import { describeAge } from "./describe-age.ts";

test("an age is said in the unit that fits, and what is old has its date", () => {
  const now = Date.parse("2026-03-31T12:00:00.000Z");
  const ages = [
    ["2026-03-31T11:59:31.000Z", "just now"],
    ["2026-03-31T12:00:09.000Z", "just now"],
    ["2026-03-31T11:57:00.000Z", "3 min ago"],
    ["2026-03-31T11:00:01.000Z", "59 min ago"],
    ["2026-03-31T07:00:00.000Z", "5 h ago"],
    ["2026-03-30T11:00:00.000Z", "yesterday"],
    ["2026-03-28T11:00:00.000Z", "3 days ago"],
    ["2026-01-02T11:00:00.000Z", "2026-01-02"],
    ["whenever", "at an unknown time"],
  ] as const;
  for (const [time, words] of ages) expect(describeAge(time, now), time).toBe(words);
});
