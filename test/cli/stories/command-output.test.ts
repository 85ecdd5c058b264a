// The output of a command: its end while it runs, the lines that matter once it failed, all of it on request.

import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { canUseTmux } from "../tmux.ts";
import { WITHOUT_SANDBOX, tellStory } from "./story.ts";

const BUILD = `
for n in 1 2 3 4 5 6 7 8; do echo "compiled part $n"; done
echo "src/a.ts(3,1): error TS1005: ';' expected."
for n in 9 10 11 12 13 14 15 16; do echo "compiled part $n"; done
until [ -e go ]; do sleep 0.1; done
echo "1 error found" >&2
exit 2
`;

const script = `
turns:
  - calls: [ { tool: code.run_command, input: { argv: [sh, build.sh], description: Build everything } } ]
  - calls: [ { tool: code.run_command, input: { argv: [sh, -c, "seq 1 20"] } } ]
  - text: It does not build.
`;

describe.skipIf(!canUseTmux())("a story of a command (needs tmux)", () => {
  it("shows the end of its output live, what matters of a failure, and all of it on request", async () => {
    verifies("CLI-1", "CMD-5", "CLI-9");
    const told = await tellStory(
      {
        script,
        files: { "build.sh": BUILD },
        args: ["--model", "script:s.yaml", "--allow", "code.run_command"],
        config: WITHOUT_SANDBOX,
        rows: 70,
      },
      async (screen) => {
        await screen.waitFor(/›$/);
        await screen.type("build it\r");
        await screen.moment("it runs", /part 16\n/);
        await screen.place.write("go", "");
        await screen.moment("it failed", /does not build\.[^]*request/);
        await screen.press("C-o");
        await screen.moment(
          "the last result whole",
          /\(result 1 of 2, newest first; \/output 2: the one before\)/,
        );
        await screen.press("C-o");
        await screen.moment("the one before it", /\(result 2 of 2, newest first\)/);
      },
    );
    await expect(told).toMatchFileSnapshot("command-output.txt");
  });
});
