// The smallest story: a conversation is opened, says one thing, and is left.

import { describe } from "vitest";
import { story } from "./story.ts";

describe("a story of a first prompt (needs tmux)", () => {
  story(
    "a conversation opens, answers and is left",
    { name: "first-words", script: "turns: [ { text: Hello. } ]", rows: 12 },
    async ({ moment, type, press, end }) => {
      await moment("opened", /›$/);
      await type("hi\r");
      await moment("answered", /Hello\.[^]*›$/);
      await press("C-d");
      await end();
      await moment("left", "continues this conversation");
    },
  );
});
