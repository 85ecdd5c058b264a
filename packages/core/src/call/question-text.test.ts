import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { PermissionRequest } from "./permission-request.ts";
import { describeClaim, describeOpenQuestion, describeQuestion } from "./question-text.ts";

const DIFF = "--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,4 @@\n-old\n+--new\n+two\n+three\n same\n";

function requestOf(given: Partial<PermissionRequest>): PermissionRequest {
  return {
    tool_name: "code.run_command",
    arguments: {},
    resources: [],
    cwd: "/p",
    project: "/p",
    destructive: false,
    ...given,
  } as PermissionRequest;
}

const command = (argv: string[], cwd = "/p"): Partial<PermissionRequest> => ({
  cwd,
  preview: { kind: "command", argv, cwd },
});

const change = (tool_name: string, more: Partial<PermissionRequest> = {}) =>
  ({
    tool_name,
    resources: [{ kind: "path", path: "/p/src/a.ts", access: "write" }],
    preview: { kind: "diff", path: "/p/src/a.ts", diff: DIFF },
    ...more,
  }) satisfies Partial<PermissionRequest>;

test.each<[Partial<PermissionRequest>, string]>([
  [command(["npm", "test"]), "Run `npm test` in ."],
  [command(["npm", "run", "a b"], "/p/web"), "Run `npm run 'a b'` in web"],
  [command(["ls"], "/project"), "Run `ls` in /project"],
  [command(["echo", "a\u202eb\nc"]), "Run `echo 'a\\u202eb\\nc'` in ."],
  [command(["echo", "x".repeat(500)]), `Run \`echo ${"x".repeat(155)}…\` in .`],
  [change("code.edit_file"), "Edit src/a.ts (+3 −1)"],
  [change("code.write_file"), "Write new file src/a.ts (+3 −1)"],
  [change("code.write_file", { destructive: true }), "Overwrite src/a.ts (+3 −1)"],
  [
    change("code.write_file", { preview_is_private: true, preview: { kind: "text", text: "" } }),
    "Write src/a.ts",
  ],
  [
    change("code.edit_file", {
      arguments: { create_if_missing: true },
      preview: { kind: "diff", path: "/p/src/a.ts", diff: "--- x\n+++ x\n@@ -0,0 +1 @@\n+a\n" },
    }),
    "Write new file src/a.ts (+1 −0)",
  ],
  [
    { tool_name: "web.fetch", arguments: { url: "https://a.org/\u200b" } },
    "Fetch https://a.org/\\u200b",
  ],
  [
    {
      tool_name: "code.read_file",
      resources: [{ kind: "path", path: "/home/me/.ssh/id_rsa", access: "read" }],
    },
    "Read /home/me/.ssh/id_rsa",
  ],
  [{ tool_name: "mcp.github.create_issue" }, "mcp.github.create_issue on server github"],
  [{ tool_name: "notes.add", arguments: { name: "todo" } }, "notes.add: todo"],
  [{ tool_name: "notes.add", arguments: 3 }, "notes.add"],
])("one line says what is asked, and where %#", (given, sentence) => {
  verifies("PERM-6", "PERM-19");
  expect(describeQuestion(requestOf(given))).toBe(sentence);
});

test("what the model says of its command is marked as its claim, and made visible", () => {
  verifies("PERM-19");
  const said = (description: unknown, tool_name = "code.run_command") =>
    describeClaim(requestOf({ tool_name, arguments: { description } as never }));
  expect(said(" Run\u001b[2J the tests\n")).toBe("The model says: Run\\u001b[2J the tests");
  expect(said("")).toBeUndefined();
  expect(said(7)).toBeUndefined();
  expect(said("Titles an issue", "mcp.github.create_issue")).toBeUndefined();
});

test("what a stored question waits for is escaped, from any writer", () => {
  verifies("PERM-19", "PERM-20");
  const stored = { question_id: "ask_1\u001b[2J", tool_name: "mcp.a.b\u001b[2J" };
  const answer = "(`soong questions answer ask_1\\u001b[2J`)";
  expect(describeOpenQuestion({ ...stored, kind: "elicitation" })).toBe(
    `an answer to mcp.a.b\\u001b[2J ${answer}`,
  );
  const request = { request: { ...requestOf({ tool_name: "notes.add", arguments: 3 }) } };
  expect(describeOpenQuestion({ ...stored, kind: "permission", request: request as never })).toBe(
    `approval: notes.add ${answer}`,
  );
  expect(describeOpenQuestion({ ...stored, kind: "permission" })).toBe(
    `approval: mcp.a.b\\u001b[2J ${answer}`,
  );
});
