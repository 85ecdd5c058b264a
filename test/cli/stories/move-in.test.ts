// A user of Claude Code moves in: what would be taken over is shown, then written, and an agent is added.

import { verifies } from "#laws";
import { describe, expect, it } from "vitest";
import { canUseTmux } from "../tmux.ts";
import { tellStory } from "./story.ts";

const OLD = {
  "old/.claude.json": JSON.stringify({
    mcpServers: {
      github: { command: "npx", args: ["-y", "server-github"], env: { GITHUB_TOKEN: "ghp_1" } },
    },
  }),
  "old/.claude/settings.json": JSON.stringify({
    permissions: { allow: ["Bash(npm test:*)", "Bash(*)"], deny: ["Read(./secrets/**)"] },
  }),
  "old/.claude/agents/reviewer.md":
    "---\nname: reviewer\ndescription: Reads changes.\ntools: Read, Grep, TodoWrite\n---\nYou review.\n",
  "old/.claude/CLAUDE.md": "Use pnpm.\n",
};

describe.skipIf(!canUseTmux())("a story of moving in (needs tmux)", () => {
  it("shows what would be written, asks, writes, and makes an agent", async () => {
    verifies("CLI-1", "CLI-9");
    const shell = {
      args: ["import", "claude-code", "--from", "old"],
      files: OLD,
      rows: 44,
    };
    const shown = await tellStory(shell, async (screen) => {
      await screen.moment("shown, and asked", "[y/N]:");
      await screen.type("n\r");
      await screen.end();
    });
    const written = await tellStory(shell, async (screen) => {
      await screen.waitFor("[y/N]:");
      await screen.type("y\r");
      await screen.end();
      await screen.moment("written", "soong doctor");
    });
    const made = await tellStory(
      { args: ["agents", "new", "tester", "--description", "Runs the tests."], rows: 8 },
      async (screen) => {
        await screen.end();
        await screen.moment("an agent is made", "Try it");
      },
    );
    await expect([shown, written, made].join("\n")).toMatchFileSnapshot("move-in.txt");
  });
});
