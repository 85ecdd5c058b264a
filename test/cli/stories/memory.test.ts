// A story: a note of the user's, one that the model proposes, and both recalled in the next conversation.

import { verifies } from "#laws";
import { describe, expect, it } from "vitest";
import { canUseTmux } from "../tmux.ts";
import { tellStory } from "./story.ts";

const SCRIPT = `
turns:
  - calls: [ { tool: internal.write_memory, input: { content: "The tests run with make check.", scope: project } } ]
  - text: They run with make check.
  - expect: [ { last_user: { contains: "Indent with tabs" } }, { last_user: { contains: "make check" } } ]
    text: With tabs, and make check.
`;

describe.skipIf(!canUseTmux())("a story of memory (needs tmux)", () => {
  it("tells of a note, a proposal that is kept with one key, and what is recalled", async () => {
    verifies("MEM-3", "MEM-4");
    const told = await tellStory({ script: SCRIPT, rows: 30 }, async (story) => {
      await story.waitFor(/›$/);
      await story.type("# Indent with tabs, and run the tests before you are done.\r");
      await story.waitFor(/Remembered as m-[^]*\n›$/);
      await story.type("how do the tests run?\r");
      await story.moment("a proposal", /\[l\]ater:$/);
      await story.type("y");
      await story.waitFor(/Remembered as m-[^]*Remembered as m-[^]*\n›$/);
      await story.type("/new\r");
      await story.waitFor(/A new session[^]*\n›$/);
      await story.type("how do I run the tests, and indent?\r");
      await story.moment("recalled", /With tabs, and make check\.[^]*\n›$/);
    });
    await expect(told.replaceAll(/\bm-[0-9a-f]{20}\b/g, "m-0")).toMatchFileSnapshot("memory.txt");
  });
});
