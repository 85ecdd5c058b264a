// A story: edits inside the project run unasked in the mode accept_edits, and so does a command that only reads; explain says why.

import { verifies } from "#laws";
import { describe, expect, it } from "vitest";
import { canUseTmux } from "../tmux.ts";
import { tellStory, WITHOUT_SANDBOX } from "./story.ts";

const EDIT = "tool: code.edit_file, input: { path: a.txt, edits: [ { old: one, new: two } ] }";
const SCRIPT = `
turns:
  - calls: [ { tool: code.run_command, input: { argv: [cat, a.txt] } } ]
  - calls: [ { ${EDIT} } ]
  - calls: [ { tool: code.write_file, input: { path: new.txt, content: new } } ]
  - calls: [ { tool: code.write_file, input: { path: a.txt, content: all, overwrite: true } } ]
  - text: I left the rest as it is.
`;

describe.skipIf(!canUseTmux())("a story (needs tmux)", () => {
  it("tells of edits that are accepted, and of one that is asked about", async () => {
    verifies("CLI-1", "SURF-9", "CMD-4", "PERM-17");
    const args = ["--model", "script:s.yaml", "--mode", "accept_edits"];
    const files = { "a.txt": "one\n" };
    const told = await tellStory(
      { script: SCRIPT, args, files, config: WITHOUT_SANDBOX },
      async (story) => {
        await story.waitFor(/›$/);
        await story.type("change it\r");
        await story.moment("only what replaces a whole file is asked about", "[n]o:");
        await story.type("n");
        await story.waitFor("Why not?");
        await story.type("edit it instead\r");
        await story.moment("no, with a reason", /I left the rest as it is\.[^]*›$/);
        expect(await story.place.read("a.txt")).toBe("two\n");
        expect(await story.place.read("new.txt")).toBe("new");
      },
    );
    await expect(told).toMatchFileSnapshot("accept-edits.txt");
  });

  it("tells why a command needs no approval", async () => {
    verifies("PERM-11", "PERM-17", "CMD-4");
    const args = ["explain", "code.run_command", '{"argv": ["cat", "a.txt"]}'];
    const told = await tellStory(
      { args, files: { "a.txt": "one\n" }, config: WITHOUT_SANDBOX },
      async (story) => {
        await story.moment("proven to only read", "inside the project.");
      },
    );
    await expect(told).toMatchFileSnapshot("explain-proof.txt");
  });
});
