import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../../test/any-character.ts";
import { planPatch } from "./patch.ts";

const options = { path: "x", create: true };
const HEADER = "--- a/x\n+++ b/x\n";

test("Any text as a patch of any bytes gives a plan or an error that JSON can hold", () => {
  verifies("EDIT-3");
  const piece = fc.constantFrom(
    ..."@@ -1,2 +1,2 @@\n|@@ -0,0 +1 @@\n|@@ -1 +1 @@\n|@@ -|--- a/x\n|+++ b/x\n|diff --git a/x b/x\n|index 1..2\n".split(
      "|",
    ),
    ...' a\n|-a\n|+b\n|\n| \n|-\n|+\n|\\ No newline at end of file\n|\\|\r\n|\t|"|\\303|\0|\u20ac|\ud83d|99999999999999999999|,|/dev/null'.split(
      "|",
    ),
  );
  const text = fc.oneof(
    fc.array(piece).map((pieces) => pieces.join("")),
    fc.string({ unit: anyCharacter }),
  );
  const bytes = fc.oneof(
    fc
      .constantFrom("", "a\n", "a\na\n", "a", "\n", "\xff\xfea\0\n\0", "\xef\xbb\xbfa\n")
      .map((file) => Buffer.from(file, "latin1")),
    fc.uint8Array().map((file) => Buffer.from(file)),
    fc.constant(undefined),
  );
  const property = fc.property(bytes, text, fc.boolean(), (before, patch, create) => {
    const plan = planPatch(before, patch, { path: "x", create });
    if (plan.ok) return;
    expect(plan.error.message).toMatch(/\S.*\.$/s);
    expect(JSON.parse(JSON.stringify(plan.error))).toEqual(plan.error);
  });
  fc.assert(property, { numRuns: process.env["SOONG_TEST_FULL"] === "1" ? 100_000 : 1000 });
});

// The sizes are such that time or memory growing with their square would end the test run.
const few = process.env["SOONG_TEST_FULL"] === "1" ? 1 : 10;
const LINES = 1_000_000 / few;
const HUNKS = 100_000 / few;
const equal = Buffer.from("a\n".repeat(LINES));

function hunks(count: number, hunk: (number: number) => string): string {
  return HEADER + Array.from({ length: count }, (_, number) => hunk(number)).join("");
}

test("Hunks by the hundred thousand for a million equal lines are put in place", () => {
  verifies("EDIT-3");
  const body = "\n a\n-a\n+b\n a\n";
  const right = planPatch(
    equal,
    hunks(HUNKS, (n) => `@@ -${n * 10 + 2},3 +${n * 10 + 2},3 @@${body}`),
    options,
  );
  expect(right.ok && right.spans).toHaveLength(HUNKS);
  const crowded = planPatch(
    equal,
    hunks(HUNKS, () => `@@ -2,3 +2,3 @@${body}`),
    options,
  );
  expect(crowded.ok && Buffer.from(crowded.after).toString()).toBe(
    `a\n${"a\nb\na\n".repeat(HUNKS)}${"a\n".repeat(LINES - 3 * HUNKS - 1)}`,
  );
  const inserted = planPatch(
    equal,
    hunks(HUNKS, () => "@@ -0,0 +1 @@\n+b\n"),
    options,
  );
  expect(inserted.ok && inserted.spans).toHaveLength(1);
  expect(inserted.ok && inserted.after.length).toBe(2 * (LINES + HUNKS));
});

test("Hunks that are all half a file off are found by the line they alone have", () => {
  verifies("EDIT-3");
  const file = Buffer.from(
    Array.from({ length: LINES }, (_, line) => (line % 2 === 0 ? "a\n" : `line ${line}\n`)).join(
      "",
    ),
  );
  const patch = hunks(HUNKS, (n) => {
    const there = LINES / 2 + n * 4;
    return `@@ -${n * 4 + 2},3 +${n * 4 + 2},3 @@\n a\n-line ${there + 1}\n+b\n a\n`;
  });
  const plan = planPatch(file, patch, options);
  expect(plan.ok && plan.spans).toHaveLength(HUNKS);
});

test("A place that would take for ever to find is given up with a reason", () => {
  verifies("EDIT-3");
  const file = Buffer.from(`${"a\n".repeat(5000)}c\n`.repeat(20));
  const patch = `@@ -10,9003 +10,9003 @@\n${" a\n".repeat(9000)}-a\n+b\n a\n a\n`;
  const plan = planPatch(file, patch, options);
  expect(plan).toMatchObject({ ok: false, error: { code: "patch_apply_failed" } });
  expect(!plan.ok && plan.error.message).toContain("too long");
});

test("Megabytes of anything are read in one go", () => {
  verifies("EDIT-3");
  const size = 5_000_000 / few;
  const outcome = (before: Buffer, patch: string): string | number => {
    const plan = planPatch(before, patch, options);
    return plan.ok ? plan.after.length : plan.error.code;
  };
  const added = `${HEADER}@@ -0,0 +1,${size / 2} @@\n${"+\n".repeat(size / 2)}`;
  expect(outcome(Buffer.from(""), added)).toBe(size / 2);
  const named = `--- "${"\\n".repeat(size / 2)}"\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n`;
  expect(outcome(equal, named)).toBe("patch_path_mismatch");
  for (const piece of [
    "--- a/x\n+++ b/x\n",
    "@@ -1 +1 @@\n",
    "diff --git ",
    " ",
    "\n",
    "+",
    "\\ ",
  ]) {
    const patch = piece.repeat(size / piece.length);
    expect(outcome(equal, patch)).toBe("patch_apply_failed");
    expect(outcome(equal, `diff --git ${patch}`)).toMatch(/^patch_/);
    expect(outcome(equal, `${HEADER}@@ -1,9 +1,9 @@\n${patch}`)).toBe("patch_apply_failed");
  }
});
