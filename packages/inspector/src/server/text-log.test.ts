import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { verifies } from "#laws";
import type { AnswerText } from "../wire/home-records.ts";
import { createTextLog } from "./text-log.ts";

function openLog() {
  const log = createTextLog(() => {});
  onTestFinished(log.close);
  return log;
}

function piece(text: string, offset: number, node_id = "n"): AnswerText {
  return { run_id: "r", node_id, offset, text };
}

describe("answers that are being written", () => {
  it("are the same text for every page, however often it asks", () => {
    verifies("UI-4", "EVENT-4");
    const step = fc.record({
      keep: fc.double({ min: 0, max: 1, noNaN: true }),
      text: fc.string({ maxLength: 5 }),
      isAsked: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const log = openLog();
        let text = "";
        let shown = "";
        let seen = 0;
        const ask = (): void => {
          for (const news of log.since("s", seen)) shown = shown.slice(0, news.offset) + news.text;
          seen = log.version();
        };
        for (const { keep, text: more, isAsked } of steps) {
          const offset = Math.floor(keep * text.length);
          text = text.slice(0, offset) + more;
          log.take("s", piece(more, offset));
          if (isAsked) ask();
        }
        ask();
        expect(shown).toBe(text);
        expect(log.since("s", seen)).toEqual([]);
      }),
    );
  });

  it("are of one session, begin anew with another node, and are not shown with a gap", () => {
    verifies("UI-4");
    const log = openLog();
    log.take("s", piece("one ", 0));
    expect(log.since("other", 0)).toEqual([]);
    const seen = log.version();
    log.take("s", piece("two ", 0, "n2"));
    expect(log.since("s", seen)).toEqual([piece("two ", 0, "n2")]);
    log.take("s", piece("lost", 99, "n2"));
    expect(log.since("s", 0)).toEqual([piece("two ", 0, "n2")]);
  });
});
