import { expect, test } from "vitest";
import { verifies } from "#laws";
import { expectAgreement, expectSame } from "./patch-agreement.ts";
import { madeUpCase, oddBytesCase, ordinaryCase } from "./patch-cases.ts";
import { damaged } from "./patch-damage.ts";

test("damaged patches are refused when git refuses them, and mean the same when it does not", async () => {
  verifies("EDIT-3");
  const { applied, refused } = await expectAgreement(800, (random) => {
    const made = random.oneIn(3) ? madeUpCase(random) : ordinaryCase(random);
    return { ...made, patch: damaged(random, made.patch) };
  });
  expect(applied).toBeGreaterThan(150);
  expect(refused).toBeGreaterThan(300);
});

test("byte order marks and bytes that are no text are compared as git compares them", async () => {
  verifies("EDIT-4");
  const { applied, refused } = await expectAgreement(150, oddBytesCase);
  expect(applied).toBeGreaterThan(50);
  expect(refused).toBeGreaterThan(15);
});

test("headers of all kinds mean to git what they mean here", async () => {
  verifies("EDIT-3");
  const changed = "@@ -1 +1 @@\n-a\n+b\n";
  const added = "@@ -0,0 +1 @@\n+b\n";
  const names = "--- a/file.txt\n+++ b/file.txt\n";
  const git = "diff --git a/file.txt b/file.txt\n";
  const patches = [
    names,
    "--- a/file.txt\t2026-01-01 10:00:00 +0000\n+++ b/file.txt\t2026-01-01 10:00:00 +0000\n",
    "--- a/file.txt\r\n+++ b/file.txt\r\n",
    '--- "a/file.txt"\n+++ "b/\\146ile.txt"\n',
    "--- /dev/null\n+++ b/file.txt\n",
    "--- a/file.txt\t1970-01-01 00:00:00 +0000\n+++ b/file.txt\n",
    "--- a/file.txt\t1970-01-01 01:00:00.0 +0100\n+++ b/file.txt\n",
    "--- a/file.txt\t1969-12-31 22:30:00 -0130\n+++ b/file.txt\n",
    "--- a/file.txt\t1970-01-01 01:00:00 +0000\n+++ b/file.txt\n",
    `${git}index 0123456..789abcd 100644\n${names}`,
    `${git}index 0123456..789abcd 100644\n`,
    `${git}${names}`,
    `${git}similarity index 90%\n${names}`,
    `${git}new file mode 100644\nindex 0000000..789abcd\n--- /dev/null\n+++ b/file.txt\n`,
    `${git}new file mode 100644\nindex 0000000..789abcd\n`,
    `words\n\n--- \n+++ \n${names}`,
    `--- a/file.txt\nwords\n+++ b/file.txt\n`,
    `${names}words\n`,
  ].flatMap((header) => {
    const whole = [header + changed, header + added, `${header}${changed}-- \n2.0\n`];
    // Without a hunk git creates an empty file; here a patch has at least one.
    return header.includes("new file mode") ? whole : [...whole, header];
  });
  const files = [Buffer.from("a\n"), Buffer.from(""), undefined];
  const same = await expectSame(
    patches.flatMap((patch) => files.map((before) => ({ before, patch }))),
  );
  expect(same.applied).toBeGreaterThan(40);
  expect(same.refused).toBeGreaterThan(80);
});

test("odd marks for a missing newline mean to git what they mean here", async () => {
  verifies("EDIT-3");
  const header = "--- a/file.txt\n+++ b/file.txt\n";
  const marks = [8, 9, 10, 11, 12].flatMap((length) => {
    const words = "x".repeat(length);
    return [`\\ ${words}\n`, `\\ ${words}`, `\\-${words}\n`];
  });
  const patches = marks.flatMap((mark) => [
    `@@ -2,2 +2,2 @@\n a\n-b\n+c\n${mark}`,
    `@@ -2,2 +2,2 @@\n a\n-b\n${mark}+c\n`,
    `@@ -1,2 +1,2 @@\n${mark}-\n+c\n a\n`,
    `@@ -1,2 +1,2 @@\n\n${mark}-a\n+c\n`,
    `@@ -1,3 +1,3 @@\n-\n+c\n a\n b\n${mark}`,
    `@@ -1 +1 @@\n-\n${mark}+c\n`,
    `@@ -1 +1,2 @@\n\n${mark}+c\n`,
    `@@ -1,2 +1,2 @@\n-a\n+c\n\n${mark}`,
    `@@ -1,2 +1,2 @@\n-a\n+c\n \n${mark}`,
  ]);
  const texts = ["\na\nb", "\na\nb\n", "\na\nb \t\n\n", "a\n\n", "a\n \nb\n", "a\n"];
  const files = [...texts.map((text) => Buffer.from(text)), undefined];
  const { applied, refused } = await expectSame(
    patches.flatMap((patch) => files.map((before) => ({ before, patch: header + patch }))),
  );
  expect(applied).toBeGreaterThan(50);
  expect(refused).toBeGreaterThan(50);
});
