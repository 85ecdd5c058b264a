import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { planPatch } from "./patch.ts";

const HUNK = "@@ -1 +1 @@\n-a\n+b\n";
const ADDED = "@@ -0,0 +1 @@\n+b\n";

interface Given {
  path?: string;
  otherPaths?: string[];
  before?: string | null;
  create?: boolean;
}

function outcome(patch: string, given: Given = {}): string {
  const { path = "src/x.txt", otherPaths = [], before = "a\n", create = true } = given;
  const bytes = before === null ? undefined : Buffer.from(before);
  const plan = planPatch(bytes, patch, { path, otherPaths, create });
  return plan.ok ? Buffer.from(plan.after).toString() : plan.error.code;
}

describe("the names in a header", () => {
  test.each([
    ["prefixes", "--- a/src/x.txt\n+++ b/src/x.txt\n"],
    ["no prefixes", "--- src/x.txt\n+++ src/x.txt\n"],
    ["other prefixes of git", "--- i/src/x.txt\n+++ w/src/x.txt\n"],
    ["a dot in front", "--- ./src/x.txt\n+++ ./src//x.txt\n"],
    ["times", "--- a/src/x.txt\t2026-01-01 10:00:00.1 +0100\n+++ b/src/x.txt\t2026-01-02\n"],
    ["Windows line ends", "--- a/src/x.txt\r\n+++ b/src/x.txt\r\n"],
    ["quotes", '--- "a/src/x.txt"\n+++ "b/\\163rc/x.txt"\t2026-01-02\n'],
    [
      "git's header",
      "diff --git a/src/x.txt b/src/x.txt\nindex 1..2 100644\n--- a/src/x.txt\n+++ b/src/x.txt\n",
    ],
    ["git's header alone", "diff --git a/src/x.txt b/src/x.txt\nindex 1..2 100644\n"],
    ["words after git's line", "diff --git a/y b/y\nwords\n--- a/src/x.txt\n+++ b/src/x.txt\n"],
    ["a letter above", "Dear all,\n---\n this changes x\n\n--- a/src/x.txt\n+++ b/src/x.txt\n"],
    ["nothing", ""],
    ["only words", "Here is the patch:\n```diff\n"],
  ])("are taken with %s", (_, header) => {
    verifies("EDIT-3");
    expect(outcome(`${header}${HUNK}`)).toBe("b\n");
  });

  test("may be any the file goes by: absolute, or as the call gave it", () => {
    verifies("EDIT-3");
    const patch = (name: string): string => `--- ${name}\n+++ ${name}\n${HUNK}`;
    const otherPaths = ["/home/me/project/src/x.txt", "x.txt"];
    expect(outcome(patch("/home/me/project/src/x.txt"), { otherPaths })).toBe("b\n");
    expect(outcome(patch("a/home/me/project/src/x.txt"), { otherPaths })).toBe("b\n");
    expect(outcome(patch("a/x.txt"), { otherPaths })).toBe("b\n");
    expect(outcome(patch("home/me/project/src/x.txt"), { otherPaths })).toBe("patch_path_mismatch");
    expect(outcome(patch("a/x.txt"))).toBe("patch_path_mismatch");
  });

  test("are unquoted as git quotes them", () => {
    verifies("EDIT-3");
    const names = ["tab\tname", 'quo"te', "back\\slash", "new\nline", "é ü", "a b.txt"];
    const quoted = [
      "tab\\tname",
      'quo\\"te',
      "back\\\\slash",
      "new\\nline",
      "\\303\\251 ü",
      "a b.txt",
    ];
    for (const [index, path] of names.entries()) {
      const patch = `--- "a/${quoted[index]}"\n+++ "b/${quoted[index]}"\n${HUNK}`;
      expect(outcome(patch, { path })).toBe("b\n");
      const git = `diff --git "a/${quoted[index]}" "b/${quoted[index]}"\nindex 1..2\n${HUNK}`;
      expect(outcome(git, { path })).toBe("b\n");
    }
    expect(
      outcome(`diff --git a/a b.txt b/a b.txt\nindex 1..2\n${HUNK}`, { path: "a b.txt" }),
    ).toBe("b\n");
  });

  test.each([
    ["another file", `--- a/src/y.txt\n+++ b/src/y.txt\n${HUNK}`],
    ["another file before", `--- a/src/y.txt\n+++ b/src/x.txt\n${HUNK}`],
    ["another file after", `--- a/src/x.txt\n+++ b/src/y.txt\n${HUNK}`],
    ["a file above", `--- a/../src/x.txt\n+++ b/../src/x.txt\n${HUNK}`],
    ["a copy in another folder", `--- old/src/x.txt\n+++ new/src/x.txt\n${HUNK}`],
    ["only the end of the path", `--- a/x.txt\n+++ b/x.txt\n${HUNK}`],
    ["another file by git's line", `diff --git a/y b/y\nindex 1..2\n${HUNK}`],
    ["a second file", `${HUNK}--- a/y\n+++ b/y\n${HUNK}`],
    [
      "a second file by git's line",
      `${HUNK}diff --git a/y b/y\nindex 1..2\n--- a/y\n+++ b/y\n${HUNK}`,
    ],
  ])("of %s are a mismatch", (_, patch) => {
    verifies("EDIT-3");
    expect(outcome(patch)).toBe("patch_path_mismatch");
  });

  test("are reported with the path of the call", () => {
    verifies("EDIT-3");
    const plan = planPatch(Buffer.from("a\n"), `--- a/src/y.txt\n+++ b/src/y.txt\n${HUNK}`, {
      path: "src/x.txt",
      create: false,
    });
    expect(plan).toMatchObject({
      error: {
        message: expect.stringMatching(
          /for "a\/src\/y\.txt", but the call is for "src\/x\.txt"/,
        ) as string,
        details: { path: "src/x.txt", patch_paths: ["a/src/y.txt", "b/src/y.txt"] },
      },
    });
  });

  test("that are not directly above the hunks are refused, not skipped", () => {
    verifies("EDIT-3");
    expect(outcome(`--- a/src/y.txt\n+++ b/src/y.txt\n\n${HUNK}`)).toBe("patch_apply_failed");
    expect(outcome(`+++ b/src/x.txt\n${HUNK}`)).toBe("patch_apply_failed");
    expect(outcome(`diff --git a/y b/y\nwords\n${HUNK}`)).toBe("patch_apply_failed");
  });
});

describe("what this edit does not do", () => {
  const git = "diff --git a/src/x.txt b/src/x.txt\n";
  test.each([
    [
      "a rename",
      `${git}similarity index 90%\nrename from src/x.txt\nrename to y\n--- a/src/x.txt\n+++ b/y\n${HUNK}`,
    ],
    ["a copy", `${git}copy from src/x.txt\ncopy to y\n${HUNK}`],
    [
      "a mode change",
      `${git}old mode 100644\nnew mode 100755\n--- a/src/x.txt\n+++ b/src/x.txt\n${HUNK}`,
    ],
    ["a mode change alone", `${git}old mode 100644\nnew mode 100755\n`],
    [
      "a deletion",
      `${git}deleted file mode 100644\n--- a/src/x.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n`,
    ],
    ["a deletion by name", "--- a/src/x.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"],
    [
      "a deletion by time",
      "--- a/src/x.txt\n+++ b/src/x.txt\t1970-01-01 01:00:00.000 +0100\n@@ -1 +0,0 @@\n-a\n",
    ],
    [
      "a deletion by name in git's header",
      `${git}--- a/src/x.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n`,
    ],
    ["binary data", `${git}index 1..2\nGIT binary patch\nliteral 3\n`],
    ["binary data omitted", `${git}index 1..2\nBinary files a/src/x.txt and b/src/x.txt differ\n`],
    ["binary data omitted by diff", "Binary files a/src/x.txt and b/src/x.txt differ\n"],
    ["a second header", `${HUNK}--- a/src/x.txt\n+++ b/src/x.txt\n${HUNK}`],
    ["hunks that do not follow directly", `${HUNK}words\n${HUNK}`],
    ["an executable file", `${git}new file mode 100755\n--- /dev/null\n+++ b/src/x.txt\n${ADDED}`],
    ["a link", `${git}new file mode 120000\n--- /dev/null\n+++ b/src/x.txt\n${ADDED}`],
  ])("is refused: %s", (_, patch) => {
    verifies("EDIT-3");
    expect(outcome(patch)).toBe("unsupported_patch");
  });

  test.each([
    ["nothing", ""],
    ["words", "please change a to b\n"],
    ["a header alone", "--- a/src/x.txt\n+++ b/src/x.txt\n"],
    ["git's header alone", `${git}index 1..2 100644\n`],
    ["hunks without numbers", "@@ @@\n-a\n+b\n"],
  ])("is refused: a patch of %s", (_, patch) => {
    verifies("EDIT-3");
    expect(outcome(patch)).toBe("patch_apply_failed");
  });
});

describe("a patch that creates the file", () => {
  const missing = { before: null };
  test.each([
    ["/dev/null", `--- /dev/null\n+++ b/src/x.txt\n${ADDED}`],
    ["a time of nothing", `--- a/src/x.txt\t1970-01-01 00:00:00 +0000\n+++ b/src/x.txt\n${ADDED}`],
    [
      "a time of nothing elsewhere",
      `--- a/src/x.txt\t1969-12-31 19:00:00.000000000 -0500\n+++ b/src/x.txt\n${ADDED}`,
    ],
    [
      "git's header",
      `diff --git a/src/x.txt b/src/x.txt\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/src/x.txt\n${ADDED}`,
    ],
    ["a plain header", `--- a/src/x.txt\n+++ b/src/x.txt\n${ADDED}`],
    ["no header", ADDED],
  ])("says so by %s", (_, patch) => {
    verifies("EDIT-3");
    expect(outcome(patch, missing)).toBe("b\n");
    expect(outcome(patch, { ...missing, create: false })).toBe("file_not_found");
  });

  test("cannot have lines of before, nor say that there was a file", () => {
    verifies("EDIT-3");
    expect(outcome(HUNK, missing)).toBe("file_not_found");
    expect(outcome("@@ -1 +1,2 @@\n a\n+b\n", missing)).toBe("file_not_found");
    expect(outcome(`--- /dev/null\n+++ b/src/x.txt\n${HUNK}`, missing)).toBe("file_not_found");
    expect(outcome(`diff --git a/src/x.txt b/src/x.txt\nindex 0..1\n${ADDED}`, missing)).toBe(
      "file_not_found",
    );
    expect(outcome(`${ADDED}@@ -0,0 +2 @@\n+c\n`, missing)).toBe("file_not_found");
  });

  test("does not change one that exists, though it be empty", () => {
    verifies("EDIT-3");
    const patch = `--- /dev/null\n+++ b/src/x.txt\n${ADDED}`;
    expect(outcome(patch)).toBe("patch_apply_failed");
    expect(outcome(patch, { before: "" })).toBe("patch_apply_failed");
    expect(outcome(ADDED, { before: "" })).toBe("b\n");
  });

  test("may create it empty", () => {
    verifies("EDIT-3");
    expect(outcome("@@ -0,0 +1 @@\n+\n\\ No newline at end of file\n", missing)).toBe("");
  });
});
