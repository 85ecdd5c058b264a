import { expect, test } from "vitest";
import { verifies } from "#laws";
import { planPatch } from "./patch.ts";

const FILE = Buffer.from("a\nb\nc\nd\n");

function refusal(patch: string): { message: string; details?: object } {
  const plan = planPatch(FILE, patch, { path: "x.txt", create: false });
  if (plan.ok) throw new Error("the patch applied");
  expect(plan.error.code).toBe("patch_apply_failed");
  return plan.error;
}

test("A hunk whose counts do not fit is refused with the counts that would", () => {
  verifies("EDIT-3");
  const body = " a\n-b\n+B\n+C\n c\n";
  for (const counts of ["-1,4 +1,4", "-1,3 +1,5", "-1,3 +1,3", "-1,4 +1,5", "-1,2 +1,4", "-1 +1"]) {
    const { message, details } = refusal(`@@ ${counts} @@\n${body}`);
    expect(message).toContain("3 and 4 follow");
    expect(message).toContain("@@ -1,3 +1,4 @@");
    expect(details).toEqual({ hunk: 1, header: `@@ ${counts} @@` });
  }
});

test("Changes beyond the counts of the last hunk are refused, not dropped", () => {
  verifies("EDIT-3");
  for (const beyond of ["+B\n", "-b\n", " b\n+C\n"]) {
    const { message } = refusal(`@@ -1 +1 @@\n-a\n+A\n${beyond}`);
    expect(message).toContain("follow");
  }
});

test.each([
  ["the signature of a mail", "-- \n2.39.5\n"],
  ["prose", "That is all.\n- really\n"],
  ["blank lines", "\n\n"],
])("What follows a whole hunk and is no part of one is passed over: %s", (_what, beyond) => {
  verifies("EDIT-3");
  const plan = planPatch(FILE, `@@ -1 +1 @@\n-a\n+A\n${beyond}`, { path: "x.txt", create: false });
  expect(plan.ok && Buffer.from(plan.after).toString()).toBe("A\nb\nc\nd\n");
});

test("A hunk that runs into the next one names the first", () => {
  verifies("EDIT-3");
  const next = "@@ -4 +4 @@\n-d\n+D\n";
  expect(refusal(`@@ -1,3 +1,3 @@ f()\n-a\n+A\n${next}`)).toMatchObject({
    message: expect.stringContaining("1 and 1 follow") as string,
    details: { hunk: 1, header: "@@ -1,3 +1,3 @@ f()" },
  });
  expect(refusal(`${next}@@ -1,3 +1,3 @@\n-a\n+A\ndiff --git a/x b/x\n`)).toMatchObject({
    message: expect.stringContaining("1 and 1 follow") as string,
    details: { hunk: 2, header: "@@ -1,3 +1,3 @@" },
  });
});

test("A line in the middle that is none of a hunk is named by its number", () => {
  verifies("EDIT-3");
  const { message } = refusal("@@ -1,3 +1,3 @@\n-a\n+A\nb\n c\n");
  expect(message).toContain("line 4 of the patch");
  expect(message).toContain("Begin unchanged lines with a space");
});

test("A patch cut in the middle of a line is refused", () => {
  verifies("EDIT-3");
  expect(refusal("@@ -1,2 +1,2 @@\n-a\n+A\n b").message).toContain("in the middle of a line");
});

test("A hunk without a change, or with a header that is none, is refused", () => {
  verifies("EDIT-3");
  expect(refusal("@@ -1,2 +1,2 @@\n a\n b\n").message).toContain("changes nothing");
  expect(refusal("@@ -1,0 +1,0 @@\n").message).toContain("changes nothing");
  const second = "@@ -1 +1 @@\n-a\n+A\n@@ -3 +x @@\n-c\n+C\n";
  expect(refusal(second)).toMatchObject({
    message: expect.stringContaining("is not of the form") as string,
    details: { hunk: 2, header: "@@ -3 +x @@" },
  });
});

test("A mark for a missing newline must look like one", () => {
  verifies("EDIT-3");
  expect(refusal("@@ -1,2 +1,2 @@\n-a\n\\ short\n+A\n b\n").message).toContain(
    "line 3 of the patch",
  );
  expect(refusal("@@ -1,2 +1,2 @@\n-a\n\\No newline at end\n+A\n b\n").message).toContain("line 3");
});

test("Words after the last hunk are passed over", () => {
  verifies("EDIT-3");
  for (const words of [
    "-- \n2.39.5\n",
    "```\n",
    "\n\nThat is all.",
    "@@ -",
    "so\n@@ -1 +1 @@",
    "--- a/y\n+++ b/y\n",
  ]) {
    const plan = planPatch(FILE, `@@ -1,2 +1,2 @@\n-a\n+A\n b\n${words}`, {
      path: "x.txt",
      create: false,
    });
    expect(plan.ok && Buffer.from(plan.after).toString()).toBe("A\nb\nc\nd\n");
  }
});
