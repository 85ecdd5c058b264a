// An answer in Markdown, as it streams and as it stays, on a usual and on a narrow screen.

import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { canUseTmux } from "../tmux.ts";
import { WITHOUT_SANDBOX, tellStory } from "./story.ts";

const BEGINNING = `# The plan

Two things are **wrong**, see [the log](https://example.org/log):

1. the parser drops \`null\`
   - also in lists
2. 中文的段落没有空格，所以要在字之间换行，不管屏幕有多宽，也不会在标点前面断开。

| file | lines | why |
|:-----|------:|-----|
| parse.ts | 12 | it never looks at what follows a comma |
`;
const END = `| 解析.ts | 3 | new |

\`\`\`ts
// keeps null
const value = read() ?? "nothing";
\`\`\`

> Shall I?
`;

const script = `
turns:
  - calls: [ { tool: code.read_file, input: { path: a.txt } } ]
  - parts:
      - text: ${JSON.stringify(BEGINNING)}
      - call: { tool: code.run_command, input: { argv: [sh, -c, "until [ -e go ]; do sleep 0.1; done"] } }
  - text: ${JSON.stringify(BEGINNING + END)}
`;

describe.skipIf(!canUseTmux())("a story of Markdown (needs tmux)", () => {
  it("shows an answer laid out, and as it was written", async () => {
    verifies("CLI-1", "CLI-9");
    const told = await tellStory(
      {
        script,
        config: WITHOUT_SANDBOX,
        files: { "a.txt": "a\n" },
        args: ["--model", "script:s.yaml", "--allow", "code.run_command"],
        rows: 60,
      },
      async (screen) => {
        await screen.waitFor(/›$/);
        await screen.type("what is wrong?\r");
        await screen.moment("while a command runs", /follows a comma[^]*runs/);
        await screen.place.write("go", "");
        await screen.moment("answered", /Shall I\?[^]*request/);
        await screen.press("M-m");
        await screen.moment("as it was written", /> Shall I\?/);
      },
    );
    await expect(told).toMatchFileSnapshot("markdown.txt");
  });

  it("fits a screen of 40 columns", async () => {
    verifies("CLI-1", "CLI-9");
    const told = await tellStory(
      { script: `turns: [ { text: ${JSON.stringify(BEGINNING + END)} } ]`, columns: 40, rows: 50 },
      async (screen) => {
        await screen.waitFor(/›$/);
        await screen.type("what is wrong?\r");
        const shown = await screen.moment("answered", /Shall I\?[^]*request/);
        expect(shown).not.toContain("](");
      },
    );
    await expect(told).toMatchFileSnapshot("markdown-narrow.txt");
  });
});
