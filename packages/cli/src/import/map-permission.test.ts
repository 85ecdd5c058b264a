// Permissions of other programs as rules of ours: never wider here than there (PERM-7, PERM-9).

import { mapForeignTool } from "@soong/agent";
import type { PermissionRule } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { mapPermission } from "./map-permission.ts";

function map(written: string, decision: PermissionRule["decision"]): unknown {
  const mapped = mapPermission(mapForeignTool(written), decision);
  if (mapped.kind !== "rules") return `${mapped.kind}: ${mapped.why}`;
  return mapped.rules.map((rule) => ({ ...rule, decision: undefined }));
}

const RUN = "code.run_command";

describe("a permission of Claude Code", () => {
  test.each<[string, PermissionRule["decision"], unknown]>([
    ["Bash(npm run test:*)", "allow", [{ tool: RUN, argv: ["npm", "run", "test", "**"] }]],
    ["Bash(npm run test *)", "allow", [{ tool: RUN, argv: ["npm", "run", "test", "**"] }]],
    ["Bash(git status)", "allow", [{ tool: RUN, argv: ["git", "status"], exact_argv: true }]],
    ["Bash(git * main)", "allow", [{ tool: RUN, argv: ["git", "*", "main"], exact_argv: true }]],
    ["Bash(rm -rf:*)", "deny", [{ tool: RUN, argv: ["rm", "-rf", "**"] }]],
    ["Bash", "deny", [{ tool: RUN }]],
    ["Read(./secrets/**)", "deny", [{ tool: "code.read_file", path: "secrets/**" }]],
    ["Read(.env)", "deny", [{ tool: "code.read_file", path: "**/.env" }]],
    ["Read(.env)", "allow", [{ tool: "code.read_file", path: ".env" }]],
    ["Read(//etc/x/)", "deny", [{ tool: "code.read_file", path: "/etc/x/**" }]],
    ["Read(~/notes/**)", "allow", [{ tool: "code.read_file", path: "~/notes/**" }]],
    [
      "Edit(src/**)",
      "allow",
      [
        { tool: "code.edit_file", path: "src/**" },
        { tool: "code.write_file", path: "src/**" },
      ],
    ],
    // Inside the project, as there.
    [
      "Edit",
      "allow",
      [
        { tool: "code.edit_file", path: "**" },
        { tool: "code.write_file", path: "**" },
      ],
    ],
    ["Write", "deny", [{ tool: "code.write_file" }]],
    ["WebFetch(domain:docs.rs)", "allow", [{ tool: "web.fetch", host: "docs.rs" }]],
    ["mcp__github__*", "allow", [{ tool: "mcp.github.*" }]],
    ["mcp__github", "ask", [{ tool: "mcp.github.*" }]],
    ["mcp__git_hub__get_pr", "allow", [{ tool: "mcp.git_hub.get_pr" }]],
    ["Task", "deny", [{ tool: "agent.create_sub_agent" }]],
  ])("%s, %s, is a rule", (written, decision, rules) => {
    verifies("PERM-9");
    expect(map(written, decision)).toEqual(rules);
  });

  test.each<[string, PermissionRule["decision"], RegExp]>([
    ["Bash", "allow", /^unmapped: would allow every command/],
    ["Bash(*)", "allow", /^unmapped: would allow every command/],
    ["Bash(:*)", "allow", /^unmapped: would allow every command/],
    ["*", "allow", /^unmapped: would allow every tool/],
    ["WebFetch", "allow", /^unmapped: would allow every host/],
    ["mcp__*__x", "allow", /^unmapped: would allow the tools of every server/],
    ["Bash(cd x && make:*)", "allow", /^unmapped: needs a shell/],
    ["Bash(NODE_ENV=test npm test)", "allow", /^unmapped: sets a variable/],
    ["Bash(git commit -m*)", "deny", /^unmapped: has "\*" inside a word/],
    ["Bash(git * main)", "deny", /^unmapped: has "\*" between words/],
    ["Bash(curl -u a1b2c3d4e5f6g7h8i9j0k1)", "allow", /^unmapped: holds what looks like a key/],
    ["Agent(Explore)", "deny", /^unmapped: names a part of that tool/],
    ["WebSearch", "allow", /^unmapped: has no counterpart/],
    ["Frobnicate", "deny", /^unmapped: is no tool that is known/],
    ["Read", "allow", /^unneeded: reading in the project/],
    ["Task", "allow", /^unneeded/],
  ])("%s, %s, is named and not taken over", (written, decision, why) => {
    verifies("PERM-7");
    expect(map(written, decision)).toMatch(why);
  });
});
