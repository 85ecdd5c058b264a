import { expect, test } from "vitest";
import { verifies } from "#laws";
import { retryAfterMs } from "./to-model-error.ts";

const NOW = Date.parse("Mon, 16 Nov 2026 04:00:00 GMT");

test.each([
  [{ "retry-after": "30" }, 30_000],
  [{ "retry-after": "1.5" }, 1500],
  [{ "retry-after": "0" }, 0],
  [{ "retry-after-ms": "250" }, 250],
  [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  [{ "retry-after-ms": "never", "retry-after": "9" }, 9000],
  [{ "retry-after": "Mon, 16 Nov 2026 04:01:00 GMT" }, 60_000],
  [{ "retry-after": "Mon, 16 Nov 2026 03:00:00 GMT" }, 0],
  [{ "retry-after": "Mon, 16 Nov 2026 09:00:05 GMT", date: "Mon, 16 Nov 2026 09:00:00 GMT" }, 5000],
  [{ "retry-after": "-5" }, undefined],
  [{ "retry-after": "1e999" }, undefined],
  [{ "retry-after": "9".repeat(400) }, undefined],
  [{ "retry-after": "" }, undefined],
  [{}, undefined],
])("%j is understood", (headers, expected) => {
  verifies("MODEL-1");
  expect(retryAfterMs({ headers }, NOW)).toBe(expected);
});
