// A run that is over and leaves something for every part of a call's details: an input that a hook changes, a rule of a
// file, an output too long to be told, a child, and words of others that would like to be more than words.

import { join } from "node:path";
import type { Place } from "../cli/cli-bundle.ts";

/** Nothing of it may become part of the page. */
export const IMAGE = '<img src=x onerror="document.title=1">';
/** Turns what follows around, and moves the cursor. */
export const UNSEEN = "\u202Etxt.exe\u001B[2J";
/** What the program prints, so that the line with this number is found on a later page. */
export const LINES = 20_000;

const RULE = `# The house's rules.

[[permissions.rules]]
tool = "code.write_file"
path = "notes/**"
decision = "allow"
reason = "notes are harmless"

[[permissions.rules]]
tool = "code.run_command"
decision = "allow"
`;

/** Another content than the model wrote. */
const HOOK = `#!/bin/sh
cat > /dev/null
echo '{"input": {"path": "notes/a.txt", "content": "in house style"}}'
`;

const SCRIPT = {
  turns: [
    {
      text: `I write ${IMAGE} ${UNSEEN}`,
      calls: [
        { tool: "code.write_file", input: { path: "./notes/a.txt", content: "as it comes" } },
        { tool: "code.search", input: { query: "house" } },
      ],
    },
    {
      calls: [
        { tool: "code.run_command", input: { argv: ["seq", "-f", "line %g", String(LINES)] } },
        { tool: "code.run_command", input: { argv: ["echo", `${IMAGE}${UNSEEN}`] } },
        { tool: "code.read_file", input: { path: `${IMAGE}${UNSEEN}.txt` } },
      ],
    },
    {
      calls: [
        { tool: "agent.create_sub_agent", input: { task: `Look around ${IMAGE}` } },
        { tool: "agent.create_sub_agent", input: { task: "Read the note" } },
      ],
    },
    { text: "Done." },
  ],
  agents: {
    default_sub_agent: [
      [{ calls: [{ tool: "code.list_dir", input: {} }] }, { text: "Looked." }],
      [{ calls: [{ tool: "code.list_dir", input: {} }] }, { text: "Looked, too." }],
    ],
  },
};

/** Until it is over. */
export async function keepRun(place: Place): Promise<void> {
  const hook = join(place.home, "house-style.sh");
  await place.write(hook, HOOK);
  const hooks = [
    {
      id: "house-style",
      event: "PreToolUse",
      tool: "code.write_file",
      command: ["/bin/sh", hook],
    },
  ];
  await place.write(join(place.home, "hooks.json"), JSON.stringify({ hooks }));
  await place.write(join(place.home, "config.toml"), RULE);
  await place.write("s.yaml", JSON.stringify(SCRIPT));
  const run = await place.run(["run", "--model", "script:s.yaml", `Tidy up ${IMAGE}${UNSEEN}`]);
  if (run.code !== 0) throw new Error(`${run.code}: ${run.stdout}${run.stderr}`);
}
