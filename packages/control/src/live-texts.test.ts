import fc from "fast-check";
import { describe, expect, it, vi, onTestFinished } from "vitest";
import { createRedactor } from "@soong/core";
import { verifies } from "#laws";
import { createLiveTexts, findSafeEnd } from "./live-texts.ts";
import type { LiveText } from "./protocol.ts";

const SECRETS = [{ name: "PASS", value: "correct horse battery" }];

/** What a follower has after what it was sent. */
function follow(texts: ReturnType<typeof createLiveTexts>) {
  let shown = "";
  let longest = "";
  const stop = texts.follow(({ offset, text }: LiveText) => {
    shown = shown.slice(0, offset) + text;
    longest += `${shown}\n`;
  });
  return { shown: () => shown, everSent: () => longest, stop };
}

function useHeldTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

describe("the text of an answer that is being written", () => {
  it("comes word by word, a few times a second, and whole to one who comes later", () => {
    verifies("UI-4");
    useHeldTimers();
    const texts = createLiveTexts(SECRETS);
    const first = follow(texts);
    for (const piece of ["Hel", "lo the", "re, gen", "eral ", "and friends"])
      texts.add("r", "n", piece);
    expect(first.shown()).toBe("");
    vi.advanceTimersByTime(100);
    expect(first.shown()).toBe("Hello there, general and ");
    const second = follow(texts);
    expect(second.shown()).toBe("Hello there, general and ");
    texts.add("r", "n", ".\nNext line ");
    vi.advanceTimersByTime(100);
    expect(first.shown()).toBe("Hello there, general and friends.\nNext line ");
    expect(second.shown()).toBe(first.shown());
    texts.add("r", "n2", "Another answer ");
    vi.advanceTimersByTime(100);
    expect(first.shown()).toBe("Another answer ");
  });

  it("never shows a secret, nor the beginning of one that is known", () => {
    verifies("UI-4", "REDACT-3");
    useHeldTimers();
    const texts = createLiveTexts(SECRETS);
    const reader = follow(texts);
    const said = "It is correct horse battery I think\n-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n";
    for (const char of said) {
      texts.add("r", "n", char);
      vi.advanceTimersByTime(100);
    }
    expect(reader.everSent()).not.toMatch(/horse|abc|def/);
    expect(reader.shown()).toContain("I think");
  });

  it("never shows the beginning of a key that is recognised by its form", () => {
    verifies("UI-4", "REDACT-3");
    useHeldTimers();
    for (const [lead, ...rest] of [
      ["github_pat_", "abcdefghij_", "klmnopqrst_", "uvwxyzabcd_efgh"],
      ["sk-ant-", "abcdefghij_", "klmnopqrst_", "uvwxyzabcd"],
      ["eyJ", "hbGciOiJIUzI.", "eyJzdWIiOiJ.", "abcdefghijkl"],
    ]) {
      const texts = createLiveTexts([]);
      const reader = follow(texts);
      for (const piece of ["The key is ", lead, ...rest, " now"]) {
        texts.add("r", "n", piece ?? "");
        vi.advanceTimersByTime(100);
      }
      for (const piece of rest) expect(reader.everSent()).not.toContain(piece);
      expect(reader.shown()).toMatch(/^The key is .*\] $/);
    }
  });

  it("is what hiding secrets in the whole gives, however it came in pieces", () => {
    verifies("UI-4");
    useHeldTimers();
    const redactor = createRedactor({ secrets: SECRETS });
    const word = fc.oneof(
      fc.constantFrom("correct horse battery", "correct", "horse", "\n", "naïve", "日本語", "```"),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), fc.integer({ min: 1, max: 7 }), (words, n) => {
        const texts = createLiveTexts(SECRETS);
        const reader = follow(texts);
        const said = `${words.join(" ")} `;
        for (let at = 0; at < said.length; at += n) {
          texts.add("r", "n", said.slice(at, at + n));
          vi.advanceTimersByTime(100);
        }
        reader.stop();
        const end = findSafeEnd(said, SECRETS);
        expect(reader.shown()).toBe(redactor.text(said.slice(0, end)));
      }),
    );
  });
});
