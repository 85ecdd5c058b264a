import { describe, expect, it } from "vitest";
import type { SessionRow } from "../../wire/session-records.ts";
import {
  costNote,
  costText,
  elapsedText,
  shortCount,
  tokensText,
  tokensTitle,
  workedText,
  type Used,
} from "./figures.ts";

function used(more: Partial<Used>): Used {
  return { requests: 2, untold: 0, unpriced: 0, cost: null, ...more };
}

describe("a cost", () => {
  it("is known, a lower bound, or unknown, and never nothing for want of a price", () => {
    const usd = { currency: "USD", micros: 520_000 };
    expect(costText(used({ cost: [usd] }))).toBe("0.52 USD");
    expect(costText(used({ cost: [usd], unpriced: 1 }))).toBe("≥ 0.52 USD");
    expect(costNote(used({ cost: [usd], unpriced: 1 }))).toMatch(/1 of 2 requests is unknown/);
    expect(costText(used({ unpriced: 2 }))).toBe("unknown");
    expect(costNote(used({ unpriced: 2 }))).toMatch(/of all requests is unknown/);
    expect(costText(used({ cost: [usd, { currency: "EUR", micros: 3400 }] }))).toBe(
      "0.52 USD + 0.0034 EUR",
    );
    expect(costText(used({ cost: [{ currency: "USD", micros: 0 }] }))).toBe("0.00 USD");
    expect(costText(used({ requests: 0 }))).toBe("");
    expect(costNote(used({ cost: [usd] }))).toBe("");
  });
});

describe("tokens", () => {
  it("are in and out together, shortened, and unknown where no one reported them", () => {
    expect(tokensText(used({ input_tokens: 8544, output_tokens: 24 }))).toBe("8,568");
    expect(tokensText(used({ input_tokens: 8544, untold: 1 }))).toBe("≥ 8,544");
    expect(tokensText(used({ untold: 2 }))).toBe("unknown");
    expect(tokensText(used({ requests: 0 }))).toBe("");
    expect(tokensTitle(used({ input_tokens: 8544, output_tokens: 24 }))).toBe(
      "2 requests, 8,544 tokens in, 24 out",
    );
    expect([9999, 10_000, 999_949, 999_950, 12_345_678].map(shortCount)).toEqual([
      "9,999",
      "10.0k",
      "999.9k",
      "1.0M",
      "12.3M",
    ]);
  });
});

describe("a duration", () => {
  it("counts whole seconds up, and continues for a session that works now", () => {
    const at = "2026-03-01T12:00:00.000Z";
    const now = Date.parse(at) + 17_400;
    expect(elapsedText(at, now)).toBe("17 s");
    expect(elapsedText(at, now + 60_000)).toBe("1 min 17 s");
    expect(elapsedText("nonsense", now)).toBe("");
    const live = { pid: 1, project: "/p", runs: [], questions: 0 };
    const summary = {
      status: "running",
      kind: "conversation",
      turns: 1,
      worked_ms: 2000,
      usage: used({}),
      calls: 0,
      failed_calls: 0,
      tools: [],
    } as const;
    const row: SessionRow = {
      session_id: "s",
      created_at: at,
      updated_at: at,
      last_seq: 1,
      summary,
    };
    expect(workedText({ ...row, live }, now)).toBe("19.4 s");
    expect(workedText(row, now)).toBe("2.0 s");
    expect(workedText({ ...row, summary: { ...summary, turns: 0 } }, now)).toBe("");
  });
});
