// PIPE-9 on the built-in tools: what a restricted path holds, and whether anything is there, is told to no one before the
// call has passed hooks and permission; and a yes to a change is not a yes to reading.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineHook } from "@soong/core";
import { undoChange, undoOf } from "@soong/tools";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { allowCode, createWorkbench, diffOf, type Workbench } from "./workbench.ts";

let bench: Workbench | undefined;
afterEach(async () => {
  await bench?.close();
  bench = undefined;
});

const SECRET = "hunter2";
const NEAR = "passwords.txt";

/** Each of them would say something of the place if planning were told. */
const calls: [tool: string, input: object][] = [
  ["code.read_file", { path: "secret/password.txt" }],
  ["code.read_file", { path: "secret/none/a" }],
  ["code.write_file", { path: `secret/${NEAR}`, content: "x" }],
  ["code.write_file", { path: `secret/${NEAR}`, content: "x", overwrite: true }],
  ["code.edit_file", { path: `secret/${NEAR}`, edits: [{ old: "hunter3", new: "x" }] }],
  ["code.edit_file", { path: "secret/none", edits: [{ old: "a", new: "x" }] }],
  ["code.list_dir", { path: "secret/none" }],
  ["code.list_dir", { path: `secret/${NEAR}` }],
  ["code.search", { path: "secret/none", query: "x" }],
];

describe("a restricted path", () => {
  for (const decision of ["deny", "ask"] as const) {
    test.each(calls)(`under ${decision} shows %s %j nothing`, async (tool, input) => {
      verifies("PIPE-9", "PIPE-1");
      const seen: string[] = [];
      bench = await createWorkbench({
        rules: [...allowCode, { path: "secret/**", decision }],
        session: {
          hooks: [
            defineHook({
              id: "pre",
              event: "PreToolUse",
              run: ({ tool_name }) => void seen.push(tool_name),
            }),
          ],
        },
      });
      await bench.write(`secret/${NEAR}`, `the word is ${SECRET}\n`);
      const result = await bench.call(tool, input);
      expect(result.status).toBe("denied");
      expect(seen).toEqual([tool]);
      const all = JSON.stringify([result, bench.facts]);
      expect(all).not.toContain(SECRET);
      const isNamed = JSON.stringify(input).includes(NEAR);
      expect(all.includes(NEAR)).toBe(isNamed);
      const words = result.error?.message ?? "";
      expect(words).not.toMatch(
        /no file|nothing at|already|is a file|no directory|executable file/,
      );
      expect(await bench.read(`secret/${NEAR}`)).toContain(SECRET);
    });
  }

  test.each([
    ["under an ask", "secret/a.txt", {}],
    ["that is sensitive", ".env", {}],
    ["where nothing may be destroyed", ".env", { destructive: "deny" }],
  ] as const)("%s looks the same before the answer, there or not", async (_, path, policy) => {
    verifies("PIPE-9");
    const told: string[] = [];
    for (const isThere of [true, false]) {
      bench = await createWorkbench({
        rules: [...allowCode, { path: "secret/**", decision: "ask" }],
        policy,
        ask: () => ({ decision: "deny" }),
      });
      if (isThere) await bench.write(path, SECRET);
      const input = { path, content: "x", overwrite: true };
      const result = await bench.call("code.write_file", input);
      const explained = await bench.run.explain({
        name: "code.write_file",
        arguments: input,
      });
      expect(result.status).toBe("rejected");
      const facts = bench.facts.filter(({ type }) => type.startsWith("permission."));
      const all = JSON.stringify([facts.map(({ type, data }) => [type, data]), result, explained]);
      told.push(
        all
          .replaceAll(bench.base, "BASE")
          .replaceAll(/"(?:digest|request_id|\w*_ref|run_id|agent_id|session_id)":"[^"]*"/g, "")
          .replaceAll(/"(?:duration_ms)":\d+/g, ""),
      );
      await bench.close();
      bench = undefined;
    }
    expect(told[0]).toBe(told[1]);
  });

  test("runs after a yes, and PostToolUseFailure fires for what cannot be planned", async () => {
    verifies("PIPE-9");
    const failures: string[] = [];
    bench = await createWorkbench({
      rules: [...allowCode, { path: "secret/**", decision: "ask" }],
      ask: () => ({ decision: "allow_once" }),
      session: {
        hooks: [
          defineHook({
            id: "post",
            event: "PostToolUseFailure",
            run: ({ result }) => void failures.push(result.error?.code ?? ""),
          }),
        ],
      },
    });
    await bench.write(`secret/${NEAR}`, `the word is ${SECRET}\n`);
    await bench.call("code.write_file", { path: `secret/${NEAR}`, content: "x" });
    await bench.call("code.read_file", { path: "secret/none" });
    expect(failures).toEqual(["path_conflict", "file_not_found"]);
    expect(bench.asked.map(({ preview }) => preview?.kind)).toEqual(["text", undefined]);
  });

  test("an ordinary change that cannot be made affects nothing else", async () => {
    verifies("PIPE-9");
    bench = await createWorkbench({ rules: [], ask: () => ({ decision: "allow_once" }) });
    await bench.write("a.txt", "text");
    const miss = { path: "a.txt", edits: [{ old: "other", new: "x" }] };
    expect((await bench.call("code.edit_file", miss)).error?.code).toBe("text_not_found");
    const taken = await bench.call("code.write_file", { path: "a.txt", content: "x" });
    expect(taken.error?.code).toBe("path_conflict");
    const command = await bench.call("code.run_command", { argv: ["soong-none-such"] });
    expect(command.error?.code).toBe("executable_not_found");
    expect(bench.asked).toEqual([]);
  });
});

describe("the preview of a sensitive file", () => {
  const overwrite = { path: ".env", content: "KEY=new\n", overwrite: true };

  test("is nowhere when no one is there to ask", async () => {
    verifies("PIPE-9");
    const stdin: unknown[] = [];
    bench = await createWorkbench({
      session: {
        hooks: [
          defineHook({
            id: "asked",
            event: "PermissionRequest",
            run: ({ request }) => void stdin.push(request),
          }),
        ],
      },
    });
    await bench.write(".env", `KEY=${SECRET}\n`);
    const result = await bench.call("code.write_file", overwrite);
    expect(result.status).toBe("denied");
    expect(stdin).toHaveLength(1);
    expect(JSON.stringify([result, bench.facts, stdin])).not.toContain(SECRET);
    expect(await namesHolding(join(bench.base, "artifacts"), SECRET)).toEqual([]);
  });

  test("is in front of the user who is asked, and in no record", async () => {
    verifies("PIPE-9");
    bench = await createWorkbench({ ask: () => ({ decision: "deny" }) });
    await bench.write(".env", `KEY=${SECRET}\n`);
    await bench.call("code.write_file", overwrite);
    expect(diffOf(bench.asked[0])).toContain(SECRET);
    expect(bench.asked[0]?.preview_is_private).toBe(true);
    expect(JSON.stringify(bench.facts)).not.toContain(SECRET);
  });

  test("a yes to overwrite is none to reading: not in the result, not as an artifact; undo still works", async () => {
    verifies("PIPE-9", "CODE-6");
    bench = await createWorkbench({ ask: () => ({ decision: "allow_for_session" }) });
    await bench.write(".env", `KEY=${SECRET}\n`);
    const result = await bench.call("code.write_file", overwrite);
    expect(result.status).toBe("succeeded");
    expect(JSON.stringify([result, bench.facts])).not.toContain(SECRET);
    const undo = undoOf(result);
    const read = await bench.call("internal.read_artifact", { artifact_id: undo?.pre_image });
    expect(read.is_error).toBe(true);
    expect(JSON.stringify(read)).not.toContain(SECRET);
    if (undo === undefined) throw new Error("no way back");
    const { artifacts, lockDirectory } = bench;
    expect(await undoChange(undo, { artifacts, lockDirectory })).toMatchObject({
      restored: "content",
    });
    expect(await bench.read(".env")).toContain(SECRET);
  });

  test("of an ordinary file is on record as before", async () => {
    verifies("PIPE-9", "PERM-6");
    bench = await createWorkbench({ rules: [], ask: () => ({ decision: "allow_once" }) });
    await bench.write("a.txt", "old words");
    const result = await bench.call("code.write_file", { ...overwrite, path: "a.txt" });
    expect(result.status).toBe("succeeded");
    const requested = bench.facts.find(({ type }) => type === "permission.requested");
    expect(JSON.stringify(requested)).toContain("old words");
    expect(JSON.stringify(result.data)).toContain("old words");
  });
});

async function namesHolding(directory: string, text: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true });
  const held: string[] = [];
  for (const entry of names.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    if ((await readFile(path)).includes(text)) held.push(path);
  }
  return held;
}
