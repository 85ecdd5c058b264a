// A story: a long command, prompts that wait for it, one of them taken back, and Esc.

import { verifies } from "#laws";
import { describe, expect, it } from "vitest";
import { canUseTmux } from "../tmux.ts";
import { WITHOUT_SANDBOX, tellStory } from "./story.ts";

const SCRIPT = `
turns:
  - calls: [ { tool: code.run_command, input: { argv: [sh, -c, "until [ -e go ]; do sleep 0.05; done; echo built"] } } ]
  - expect: [ { result: 0, contains: "built" }, { last_user: { contains: "the tests, too" } } ]
    text: Built, and the tests come next.
  - parts: [ { text: "Once upon" }, { text: " a time", after_ms: 600000 } ]
  - calls: [ { tool: code.write_file, input: { path: b.txt, content: b } } ]
`;

describe.skipIf(!canUseTmux())("a story (needs tmux)", () => {
  it("tells of prompts that wait for the next request, and of Esc", async () => {
    verifies("CLI-1", "PIPE-7", "CLI-9");
    const args = ["--model", "script:s.yaml", "--allow", "code.run_command"];
    const told = await tellStory(
      { script: SCRIPT, args, config: WITHOUT_SANDBOX },
      async (story) => {
        await story.waitFor(/›$/);
        await story.type("build it\r");
        await story.waitFor("… code.run_command");
        await story.type("and the tests, too\r");
        await story.waitFor("queued: and the tests, too");
        await story.type("nevermind\r");
        await story.moment("two prompts wait, and the command runs on", "queued: nevermind");
        await story.press("Up");
        await story.moment("the last is taken back", /queued: and the tests[^]*› nevermind$/);
        await story.press("C-u");
        await story.place.write("go", "");
        await story.moment("the other is read with the result", /come next\.[^]*›$/);
        await story.type("a story\r");
        await story.waitFor("Once upon");
        await story.type("no more\r");
        await story.waitFor("queued: no more");
        await story.press("Escape");
        await story.moment("Esc stops the model", /Stopped\.[^]*› no more$/);
        await story.press("C-u");
        await story.type("write it\r");
        await story.waitFor(/b\.txt[^]*\[n\]o/);
        await story.press("Escape");
        // Esc at a question: no, and the turn ends.
        await story.waitFor(/b\.txt aborted[^]*Stopped\.[^]*›$/);
        await expect(story.place.read("b.txt")).rejects.toThrow("ENOENT");
      },
    );
    await expect(told).toMatchFileSnapshot("queue.txt");
  });
});
