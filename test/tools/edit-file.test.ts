import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { undoChange, undoOf } from "@soong/tools";
import {
  createWorkbench,
  dataOf,
  diffOf,
  textOf,
  type Workbench,
  type WorkbenchOptions,
} from "./workbench.ts";

let bench: Workbench;
const open = async (options?: WorkbenchOptions): Promise<void> => {
  await bench.close();
  bench = await createWorkbench(options);
};
beforeEach(async () => {
  bench = await createWorkbench();
});
afterEach(() => bench.close());

const edit = (input: object) => bench.call("code.edit_file", input);
const replace = (path: string, old: string, text: string) =>
  edit({ path, edits: [{ old, new: text }] });

describe("code.edit_file", () => {
  test("replaces what occurs once and leaves every other byte alone", async () => {
    verifies("EDIT-1", "EDIT-2", "EDIT-4");
    const bytes = Buffer.from("\ufeffone\r\ntwo\nthree\r\nno end", "utf8");
    await bench.write("a.txt", bytes);
    const result = await replace("a.txt", "two", "$& and 2");
    expect(result.status).toBe("succeeded");
    expect(await bench.read("a.txt")).toBe("\ufeffone\r\n$& and 2\nthree\r\nno end");
    expect(textOf(result)).toContain("a.txt");
  });

  test("takes a unified diff of this file", async () => {
    verifies("EDIT-1", "EDIT-3");
    await bench.write("src/a.txt", "one\ntwo\nthree\n");
    const unified_diff =
      "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    expect((await edit({ path: "src/a.txt", unified_diff })).status).toBe("succeeded");
    expect(await bench.read("src/a.txt")).toBe("one\n2\nthree\n");
    const back = "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -2 +2 @@\n-2\n+two";
    expect((await edit({ path: "src/a.txt", unified_diff: back })).status).toBe("succeeded");
    expect(await bench.read("src/a.txt")).toBe("one\ntwo\nthree\n");
    const named = unified_diff.replaceAll(/[ab]\/src\/a\.txt/g, join(bench.project, "src/a.txt"));
    expect((await edit({ path: "src/a.txt", unified_diff: named })).status).toBe("succeeded");
    const other = unified_diff.replaceAll("src/a.txt", "src/b.txt");
    expect((await edit({ path: "src/a.txt", unified_diff: other })).error?.code).toBe(
      "patch_path_mismatch",
    );
  });

  test("wants exactly one of edits and unified_diff, and has no dry run", async () => {
    verifies("EDIT-1");
    await bench.write("a.txt", "x\n");
    const edits = [{ old: "x", new: "y" }];
    for (const input of [
      { path: "a.txt" },
      { path: "a.txt", edits, unified_diff: "@@ -1 +1 @@\n-x\n+y\n" },
      { path: "a.txt", edits, dry_run: true },
      { path: "a.txt", edits: [] },
      { path: "a.txt", edits: [{ old: "", new: "y" }] },
      { path: "a.txt", edits: [{ old: "", new: "y", replace_all: true }] },
      { path: "a.txt", edits: [{ old: "x" }] },
    ]) {
      const result = await edit(input);
      expect(result.is_error, JSON.stringify(input)).toBe(true);
      expect(result.error?.recovery).toBe("change_arguments");
    }
    expect(await bench.read("a.txt")).toBe("x\n");
  });

  test("a missing file is made only on request", async () => {
    verifies("EDIT-1", "EDIT-2");
    const edits = [{ old: "", new: "hello\n" }];
    const missing = await edit({ path: "new/a.txt", edits });
    expect(missing.error?.code).toBe("file_not_found");
    const made = await edit({ path: "new/a.txt", edits, create_if_missing: true });
    expect(made.status).toBe("succeeded");
    expect(dataOf(made)).toMatchObject({ created: true });
    expect(await bench.read("new/a.txt")).toBe("hello\n");
    const unified_diff = "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+made\n";
    const patched = await edit({ path: "b.txt", unified_diff, create_if_missing: true });
    expect(patched.status).toBe("succeeded");
    expect(await bench.read("b.txt")).toBe("made\n");
  });

  test("a miss changes nothing and says where it came close", async () => {
    verifies("EDIT-2", "EDIT-5");
    await bench.write("a.ts", "const port = 30000;\nconst host = 'x';\n");
    const result = await replace("a.ts", "const port = 30001;", "const port = 1;");
    expect(result.error).toMatchObject({ code: "text_not_found", recovery: "change_arguments" });
    expect(textOf(result)).toContain("Line 1 of the file:\nconst port = 30000;");
    expect(await bench.read("a.ts")).toContain("30000");
  });

  test("several edits are made together or not at all", async () => {
    verifies("EDIT-2");
    await bench.write("a.txt", "one two three two\n");
    const both = await edit({
      path: "a.txt",
      edits: [
        { old: "one", new: "1" },
        { old: "four", new: "4" },
      ],
    });
    expect(both.error?.code).toBe("text_not_found");
    expect(await bench.read("a.txt")).toBe("one two three two\n");
    const ambiguous = await replace("a.txt", "two", "2");
    expect(ambiguous.error?.code).toBe("ambiguous_edit");
    const all = await edit({ path: "a.txt", edits: [{ old: "two", new: "2", replace_all: true }] });
    expect(all.status).toBe("succeeded");
    expect(await bench.read("a.txt")).toBe("one 2 three 2\n");
  });

  test("two edits of one file in one turn are both there", async () => {
    verifies("EDIT-6", "PIPE-1");
    await bench.write("a.txt", "one\ntwo\n");
    const results = await bench.run.execute([
      {
        id: "1",
        name: "code.edit_file",
        arguments: { path: "a.txt", edits: [{ old: "one", new: "1" }] },
      },
      {
        id: "2",
        name: "code.edit_file",
        arguments: { path: "a.txt", edits: [{ old: "two", new: "2" }] },
      },
    ]);
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
    expect(await bench.read("a.txt")).toBe("1\n2\n");
  });

  test("two agents that edit one file at once lose nothing: what is reported as done is there", async () => {
    verifies("EDIT-6");
    await bench.write("a.txt", Array.from({ length: 40 }, (_, i) => `line ${i};\n`).join(""));
    const runs = await Promise.all(Array.from({ length: 8 }, () => bench.session.startRun()));
    const done: number[] = [];
    await Promise.all(
      runs.map(async (run, agent) => {
        for (let i = agent; i < 40; i += 8) {
          const input = { path: "a.txt", edits: [{ old: `line ${i};`, new: `done ${i};` }] };
          for (let tries = 0; tries < 100; tries += 1) {
            const [result] = await run.execute([
              { id: `${i}.${tries}`, name: "code.edit_file", arguments: input },
            ]);
            if (result?.status === "succeeded") {
              done.push(i);
              break;
            }
            expect(result?.error?.code).toBe("changed_since_approval");
            expect(result?.error?.retryable).toBe(true);
          }
        }
      }),
    );
    expect(done).toHaveLength(40);
    expect(await bench.read("a.txt")).toBe(
      Array.from({ length: 40 }, (_, i) => `done ${i};\n`).join(""),
    );
  });

  test("a file changed between approval and commit is refused, and stays as it is", async () => {
    verifies("PERM-8", "DEF-5", "EDIT-6");
    await open({
      rules: [],
      ask: async () => {
        await bench.write("a.txt", "one\nTWO\n");
        return { decision: "allow_once" };
      },
    });
    await bench.write("a.txt", "one\ntwo\n");
    const result = await replace("a.txt", "one", "1");
    expect(result.error?.code).toBe("changed_since_approval");
    expect(await bench.read("a.txt")).toBe("one\nTWO\n");
    expect(await readdir(bench.project)).toEqual(["a.txt"]);
  });

  test("the diff that is shown is the change that is made", async () => {
    verifies("DEF-5", "EDIT-4");
    await open({ rules: [], ask: () => ({ decision: "allow_once" }) });
    const lines = Array.from({ length: 100 }, (_, i) => `line ${i}\r\n`);
    await bench.write("a.txt", lines.join(""));
    await edit({
      path: "a.txt",
      edits: [
        { old: "line 10\nline 11", new: "ten\neleven\nmore" },
        { old: "line 90", new: "ninety" },
      ],
    });
    const after = await bench.read("a.txt");
    expect(after).toContain("ten\r\neleven\r\nmore\r\nline 12\r\n");
    const diff = diffOf(bench.asked[0]);
    await bench.write("b.txt", lines.join(""));
    const again = await edit({ path: "b.txt", unified_diff: diff.replaceAll("a.txt", "b.txt") });
    expect(again.status).toBe("succeeded");
    expect(await bench.read("b.txt")).toBe(after);
  });

  test("editing a sensitive file asks, even if a rule allows it, and a guess at its text learns nothing", async () => {
    verifies("PATH-3", "EDIT-5");
    await bench.write(".env", "TOKEN=hunter2hunter2\n");
    for (const old of ["TOKEN=hunter2hunter2", "TOKEN=guess", "TOKEN"]) {
      const result = await replace(".env", old, "X");
      expect(result.status, old).toBe("denied");
      expect(result.error?.code).toBe("sensitive_path");
      expect(JSON.stringify(result)).not.toContain("hunter2");
    }
    expect(await bench.read(".env")).toBe("TOKEN=hunter2hunter2\n");
    const told = bench.facts.filter(({ type }) => type !== "tool.requested");
    expect(JSON.stringify(told)).not.toContain("hunter2hunter2");
  });

  test("once the user said yes, a miss in a sensitive file is reported like any other", async () => {
    verifies("PATH-3", "EDIT-5");
    await open({ ask: () => ({ decision: "allow_once" }) });
    await bench.write(".env", "PORT=30000\n");
    expect((await replace(".env", "PORT=30001", "X")).error?.code).toBe("text_not_found");
    expect((await replace(".env", "PORT=30000", "PORT=1")).status).toBe("succeeded");
    expect(await bench.read(".env")).toBe("PORT=1\n");
    expect(bench.asked).toHaveLength(2);
  });

  test("the pre-image is kept, and an edit can be taken back while the file is as it was left", async () => {
    verifies("CODE-6");
    await bench.write("a.txt", "one\n");
    const first = await replace("a.txt", "one", "two");
    const undo = undoOf(first);
    if (undo?.pre_image === undefined || undo.pre_image === null) throw new Error("no pre-image");
    expect(Buffer.from((await bench.artifacts.read(undo.pre_image)) ?? []).toString()).toBe(
      "one\n",
    );
    const second = await replace("a.txt", "two", "three");
    const options = { artifacts: bench.artifacts, lockDirectory: bench.lockDirectory };
    await expect(undoChange(undo, options)).rejects.toThrow(/a\.txt/);
    expect(await bench.read("a.txt")).toBe("three\n");
    const back = undoOf(second);
    if (back === undefined) throw new Error("no undo");
    await undoChange(back, options);
    expect(await bench.read("a.txt")).toBe("two\n");
    await undoChange(undo, options);
    expect(await bench.read("a.txt")).toBe("one\n");
  });

  test("undoing a new file removes it, unless it was changed", async () => {
    verifies("CODE-6");
    const made = await bench.call("code.write_file", { path: "n.txt", content: "new" });
    const undo = undoOf(made);
    if (undo === undefined) throw new Error("no undo");
    const options = { artifacts: bench.artifacts, lockDirectory: bench.lockDirectory };
    await writeFile(join(bench.project, "n.txt"), "changed");
    await expect(undoChange(undo, options)).rejects.toThrow(/n\.txt/);
    await writeFile(join(bench.project, "n.txt"), "new");
    expect(await undoChange(undo, options)).toMatchObject({ restored: "removed" });
    expect(await readdir(bench.project)).toEqual([]);
    await expect(undoChange(undo, options)).rejects.toThrow(/n\.txt/);
  });

  test("a call that changed nothing has nothing to take back", async () => {
    verifies("CODE-6");
    await bench.write("a.txt", "one\n");
    expect(undoOf(await replace("a.txt", "nowhere", "x"))).toBeUndefined();
    expect(undoOf(await bench.call("code.read_file", { path: "a.txt" }))).toBeUndefined();
  });
});
