// A story: what can be typed beside prompts. A slip, an own command, a command that is run here, an image, figures, and the
// way out.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { verifies } from "#laws";
import { describe, expect, it } from "vitest";
import { canUseTmux } from "../tmux.ts";
import { WITHOUT_SANDBOX, tellStory } from "./story.ts";

const SCRIPT = `
turns:
  - expect: [ { last_user: { contains: "Review the branch \\"main\\" in a sentence." } } ]
    text: It is fine.
  - expect: [ { last_user: { contains: "one two\\n" } }, { last_user: { contains: "what did it say?" } } ]
    text: One, two.
  - expect: [ { last_user: { contains: "what is" } } ]
    text: A pixel.
`;

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const REVIEW = `---
description: Review a branch
argument-hint: BRANCH
---
Review the branch "$1" in a sentence.
`;

describe.skipIf(!canUseTmux())("a story of commands (needs tmux)", () => {
  it("tells of a slip, an own command, a command that is run here, and the way out", async () => {
    verifies("CLI-7", "CLI-9");
    const before = (place: Parameters<NonNullable<Parameters<typeof tellStory>[0]["before"]>>[0]) =>
      place.write(join(place.home, "commands", "review.md"), REVIEW);
    const told = await tellStory(
      { script: SCRIPT, config: WITHOUT_SANDBOX, before, rows: 34 },
      async (story) => {
        await story.waitFor(/›$/);
        await story.type("/reveiw main\r");
        await story.waitFor(/Did you mean \/review\?[^]*\n›$/);
        // Tab knows it, too.
        await story.type("/rev");
        await story.press("Tab");
        await story.waitFor(/› \/review$/);
        await story.type("main\r");
        await story.waitFor(/It is fine\.[^]*\n›$/);
        await story.type("!echo one 'two' | tr -d x\r");
        await story.waitFor(/\none two\n[^]*›$/);
        await story.type("!sh -c 'echo lost >&2; exit 3'\r");
        await story.waitFor(/exit code 3[^]*\n›$/);
        await story.type("what did it say?\r");
        await story.waitFor(/One, two\.[^]*\n›$/);
        // A picture that is dragged here comes as a paste of its path.
        await writeFile(join(story.place.project, "one pixel.png"), Buffer.from(PIXEL, "base64"));
        await story.type("what is ");
        await story.paste(`'${join(story.place.project, "one pixel.png")}'`);
        await story.waitFor(/one pixel\.png"$/);
        await story.type("?\r");
        await story.waitFor(/A pixel\.[^]*\n›$/);
        await story.type("/cost\r");
        await story.moment(
          "a slip, an own command, commands, an image, figures",
          /\n3 requests,[^]*\n›$/,
        );
        await story.press("BTab");
        await story.waitFor(/ · accept_edits\n›$/);
        await story.press("BTab");
        await story.waitFor(/ · plan\n›$/);
        await story.press("BTab");
        await story.waitFor(/ · normal\n›$/);
        await story.type("exit\r");
        expect(await story.end()).toBe(0);
      },
    );
    await expect(told).toMatchFileSnapshot("slash-commands.txt");
  });
});
