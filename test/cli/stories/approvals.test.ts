// A story: commands allowed once, for the session by how they begin, and always with a rule that is edited first.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { canUseTmux } from "../tmux.ts";
import { tellStory } from "./story.ts";

const RUN = "tool: code.run_command";
const SCRIPT = `
turns:
  - calls: [ { ${RUN}, input: { argv: [git, add, a.txt], description: Stage the first file } } ]
  - calls: [ { ${RUN}, input: { argv: [git, add, b.txt] } } ]
  - calls: [ { ${RUN}, input: { argv: [git, add, c.txt] } } ]
  - text: All three are staged.
  - calls: [ { ${RUN}, input: { argv: [git, mv, a.txt, d.txt] } } ]
  - text: Moved.
`;
const CONFIG = '# My own rules.\nsandbox = "off"\n[permissions]\ndestructive = "ask" # as it is\n';

test.skipIf(!canUseTmux())(
  "a command once, for the session by how it begins, and always",
  async () => {
    verifies("PERM-4", "PERM-5", "PERM-6", "PERM-18", "REPLAY-1", "CLI-1", "CLI-9");
    const told = await tellStory(
      {
        script: SCRIPT,
        files: { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" },
        async before(place) {
          execFileSync("git", ["init", "--quiet", place.project]);
          await place.write(join(place.home, "config.toml"), CONFIG);
        },
        rows: 44,
      },
      async (story) => {
        await story.waitFor(/›$/);
        await story.type("stage them\r");
        await story.moment("asked, with what the model says of it", "[n]o:");
        await story.type("y");
        await story.waitFor(/git add b\.txt[^]*\[n\]o:$/);
        await story.type("s");
        await story.moment("for this session: what is meant", "[b]ack:");
        await story.type("s");
        await story.moment("the third one is covered", /All three are staged\.[^]*›$/);
        // The answer is on record with what it covers, so that a replay decides the same.
        expect((await story.place.run(["replay"])).stdout).toContain("the same: 3 calls");
        await story.type("move one\r");
        await story.waitFor(/git mv a\.txt d\.txt[^]*\[n\]o:$/);
        await story.type("w");
        await story.waitFor(/Always: [^]*\[b\]ack:$/);
        await story.type("s");
        await story.moment("always: the rule that would be written", "[c]hange it");
        await story.type("c");
        await story.waitFor("Rule:");
        await story.press("BSpace", "BSpace");
        await story.type(', reason = "moving is fine" }\r');
        await story.moment(
          "the rule as it was edited",
          /moving is fine[^]*reason = "moving is fine"\n[^]*\[b\]ack:$/,
        );
        await story.type("p");
        await story.moment("kept, and run", /Moved\.[^]*›$/);
        const config = readFileSync(join(story.place.home, "config.toml"), "utf8");
        expect(config.startsWith(CONFIG)).toBe(true);
        expect(config).toContain('argv = ["git", "mv", "**"]');
        expect(config).toContain('reason = "moving is fine"');
        expect(config).toContain(`project = "${story.place.project}"`);
      },
    );
    await expect(told).toMatchFileSnapshot("approvals.txt");
  },
);
