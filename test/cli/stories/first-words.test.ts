// The smallest story: a conversation is opened, says one thing, and is left.

import { verifies } from "#laws";
import { describe, expect, it } from "vitest";
import { canUseTmux } from "../tmux.ts";
import { tellStory } from "./story.ts";

describe.skipIf(!canUseTmux())("a story of a first prompt (needs tmux)", () => {
  it("opens a conversation, answers and is left", async () => {
    verifies("CLI-1", "CLI-9");
    const told = await tellStory(
      { script: "turns: [ { text: Hello. } ]", rows: 12 },
      async (screen) => {
        await screen.moment("opened", /›$/);
        await screen.type("hi\r");
        await screen.moment("answered", /Hello\.[^]*›$/);
        await screen.press("C-d");
        await screen.end();
        await screen.moment("left", "continues this conversation");
      },
    );
    await expect(told).toMatchFileSnapshot("first-words.txt");
  });
});
