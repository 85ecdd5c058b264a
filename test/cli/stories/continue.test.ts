// A story: two prompts on the command line, the newer one continued with -c, the older one found in the list of -r.

import { verifies } from "#laws";
import { describe, expect, it } from "vitest";
import type { Place } from "../cli-bundle.ts";
import { canUseTmux } from "../tmux.ts";
import { tellStory } from "./story.ts";

const MODEL = ["--model", "script:s.yaml"];
const SCRIPT = `
turns:
  - text: I look at both.
    calls:
      - { tool: code.read_file, input: { path: a.txt } }
      - { tool: code.read_file, input: { path: 没有.txt } }
  - text: "Only **a.txt** is there."
`;

async function askTwice(place: Place): Promise<void> {
  await place.run(["-p", "look at a.txt and 没有.txt", ...MODEL]);
  await place.write("t.yaml", "turns: [ { text: Written. } ]");
  await place.run(["-p", "write the docs", "--model", "script:t.yaml"]);
  await place.write("s.yaml", "turns: [ { text: And so it goes on. } ]");
}

const STORY = { script: SCRIPT, files: { "a.txt": "hello\n" }, rows: 20, before: askTwice };

describe.skipIf(!canUseTmux())("a story (needs tmux)", () => {
  it("tells of a conversation that continues, by -c and from a list", async () => {
    verifies("CLI-4", "CLI-9");
    const newest = await tellStory({ ...STORY, args: ["-c", "go on", ...MODEL] }, async (story) => {
      await story.moment("-c continues the newest, with a prompt", /goes on\.[^]*›$/);
      await story.press("C-d");
      expect(await story.end()).toBe(0);
    });
    const chosen = await tellStory({ ...STORY, args: ["-r", ...MODEL] }, async (story) => {
      await story.moment("-r lists what was said here", /❯ write the docs[^]*look at a\.txt/);
      await story.press("Down");
      await story.moment("the arrow moves the mark", /❯ look at a\.txt/);
      await story.type("docs");
      await story.moment("words filter the list", (screen) => !screen.includes("look at"));
      await story.press("C-u");
      await story.waitFor(/look at a\.txt/);
      await story.press("Down", "Enter");
      await story.moment("Enter shows what was said", /is there\.[^]*›$/);
      await story.press("C-d");
      expect(await story.end()).toBe(0);
    });
    await expect([newest, chosen].join("\n")).toMatchFileSnapshot("continue.txt");
  });
});
