import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { writtenFact } from "../../../../test/facts.ts";
import { boundFact, MOST_FACT_BYTES } from "./bound-fact.ts";
import type { Fact } from "./fact.ts";

const KIB = 1024;

function factWith(data: object): Fact {
  return writtenFact({ seq: 7, type: "tool.completed", data });
}

function bytesOf(fact: Fact): number {
  return Buffer.byteLength(JSON.stringify(fact));
}

describe("a fact in a stream", () => {
  it("is itself up to 64 KiB, no matter what its characters take", () => {
    verifies("EVENT-5");
    for (const text of ["a".repeat(60 * KIB), "€".repeat(20 * KIB)]) {
      const fact = factWith({ text });
      expect(boundFact(fact)).toBe(fact);
    }
    const fact = factWith({ text: "€".repeat(30 * KIB) });
    expect(bytesOf(boundFact(fact))).toBeLessThan(MOST_FACT_BYTES);
  });

  it("has a long text by reference, and all around it as it is", () => {
    verifies("EVENT-5");
    const text = "x".repeat(100 * KIB);
    const data = { result: { status: "succeeded", content: [{ type: "text", text }] } };
    const bounded = boundFact(factWith(data));
    expect(bounded.data).toEqual({
      result: {
        status: "succeeded",
        content: [
          {
            type: "text",
            text: {
              $ref: "journal:s/7#/data/result/content/0/text",
              chars: 100 * KIB,
              head: "x".repeat(256),
            },
          },
        ],
      },
    });
    expect(data.result.content[0]?.text).toBe(text);
  });

  it("has a long list by reference", () => {
    verifies("EVENT-5");
    const tools = Array.from({ length: 10_000 }, (_, i) => ({ tool_name: `mcp.s.t${i}` }));
    expect(boundFact(factWith({ mode: "normal", "a/b": tools })).data).toEqual({
      mode: "normal",
      "a/b": { $ref: "journal:s/7#/data/a~1b", items: 10_000 },
    });
  });

  it("is within the bound for anything, and keeps what says which fact it is", () => {
    verifies("EVENT-5");
    const many = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`key_${i}`, `v${i}`]));
    const several = Object.fromEntries(
      Array.from({ length: 9 }, (_, i) => [`text_${i}`, "\u{1F600}".repeat(5 * KIB)]),
    );
    for (const data of [many, several, { list: [many, several] }]) {
      const bounded = boundFact(factWith(data));
      expect(bytesOf(bounded)).toBeLessThanOrEqual(MOST_FACT_BYTES);
      expect(bounded).toMatchObject({ id: "f7", seq: 7, type: "tool.completed" });
    }
  });
});
