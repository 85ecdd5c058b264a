import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import {
  brokenPromises,
  buildLedger,
  renderBrokenPromises,
  renderLacking,
  renderLedger,
} from "./ledger.ts";
import type { Law } from "./manifest.ts";

const done: Law = { id: "PERM-1", sentence: "Facts are kept.", source: "S3", status: "done" };
const partly: Law = {
  id: "HOOK-1",
  sentence: "Hooks come from files and code.",
  source: "S0",
  status: "partly",
  missing: "files",
};
const open: Law = { id: "HOOK-5", sentence: "Hooks are commands.", source: "S0", status: "open" };

describe("the ledger of laws", () => {
  test("counts passing tests only, and a test that names a law twice once", () => {
    const ledger = buildLedger(
      [done, open],
      [
        { laws: ["PERM-1", "PERM-1"], passed: true },
        { laws: ["PERM-1", "HOOK-5"], passed: true },
        { laws: ["PERM-1", "HOOK-5"], passed: false },
      ],
    );
    expect(ledger).toEqual([
      { law: done, passingTests: 2 },
      { law: open, passingTests: 1 },
    ]);
  });

  test("a law marked done without a passing test is a broken promise", () => {
    const ledger = buildLedger([done, open], [{ laws: ["PERM-1"], passed: false }]);
    expect(brokenPromises(ledger)).toEqual([done]);
    expect(renderBrokenPromises([done])).toContain("PERM-1: Facts are kept.");
  });

  test("a law marked partly done is held to what there is of it", () => {
    expect(brokenPromises(buildLedger([partly], []))).toEqual([partly]);
    expect(brokenPromises(buildLedger([partly], [{ laws: ["HOOK-1"], passed: true }]))).toEqual([]);
  });

  test("a law marked done with a passing test is not, and an open one never is", () => {
    const ledger = buildLedger([done, open], [{ laws: ["PERM-1"], passed: true }]);
    expect(brokenPromises(ledger)).toEqual([]);
  });

  test("a law whose tests could not run because something is missing is reported, and is not broken", () => {
    const lacks = "a browser";
    const ledger = buildLedger([done], [{ laws: ["PERM-1"], passed: false, lacks }]);
    expect(brokenPromises(ledger)).toEqual([]);
    expect(renderLedger(ledger)).toContain("PERM-1 is not shown here: its tests need a browser.");
    const shown = buildLedger(
      [done],
      [
        { laws: ["PERM-1"], passed: false, lacks },
        { laws: ["PERM-1"], passed: true },
      ],
    );
    expect(renderLedger(shown)).not.toContain("not shown");
  });

  test("is followed by what was skipped for want of what: a line for each", () => {
    const skipped = (lacks: string) => ({ laws: [], passed: false, lacks });
    expect(renderLacking(["a", "b", "a"].map(skipped))).toEqual([
      "skipped: 2 tests need a.",
      "skipped: 1 test needs b.",
    ]);
    expect(renderLacking([{ laws: [], passed: true }])).toEqual([]);
  });

  test("is printed by status, and says which open laws have tests already", () => {
    const outcomes = [{ laws: ["PERM-1", "HOOK-1", "HOOK-5"], passed: true }];
    expect(renderLedger(buildLedger([done, partly, open], outcomes))).toBe(
      [
        "Laws: 1 done, 1 partly, 1 open (in brackets: passing tests)",
        "  done              PERM-1 (1)",
        "  partly            HOOK-1 (1)",
        "  open, with tests  HOOK-5 (1)",
        "  open, no tests    0",
      ].join("\n"),
    );
  });

  test("is wrapped to a hundred columns", () => {
    const many = Array.from({ length: 60 }, (_, n): Law => ({ ...done, id: `PERM-${n + 1}` }));
    const lines = renderLedger(buildLedger(many, [])).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(lines.join(" ").match(/PERM-/g)).toHaveLength(60);
  });
});

describe("verifies", () => {
  test("notes the laws on the running test", ({ task }) => {
    const meta = { ...task.meta };
    verifies("PERM-1", "HOOK-5");
    expect(task.meta.laws).toEqual(["PERM-1", "HOOK-5"]);
    // This test proves nothing about those laws.
    task.meta.laws = meta.laws ?? [];
  });

  test("throws at once for an id that is not a law", () => {
    expect(() => verifies("PERM-1", "PERM-999")).toThrow("Not in laws.json: PERM-999");
  });
});
