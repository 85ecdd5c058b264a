// What is stored, at a terminal: the sessions of a project, a transcript, facts as sentences, and going back to before a prompt.

import { verifies } from "#laws";
import { describe, expect, it } from "vitest";
import type { Place } from "../cli-bundle.ts";
import { canUseTmux } from "../tmux.ts";
import { tellStory } from "./story.ts";

const SCRIPT = `turns:
  - text: Reading.
    calls: [ { tool: code.read_file, input: { path: notes.txt } } ]
  - text: The notes say "hello".
`;

/** One conversation of two prompts. */
async function talkTwice(place: Place): Promise<void> {
  await place.write("notes.txt", "hello\n");
  await place.write("more.yaml", "turns: [ { text: 不客气。 } ]");
  await place.run(["run", "--model", "script:s.yaml", "What do the notes say?"]);
  await place.run(["run", "--model", "script:more.yaml", "谢谢 for that, and for all the rest"]);
  const { stdout } = await place.run(["sessions", "--json"]);
  const [, first = "{}"] = stdout.split("\n");
  const { session_id } = JSON.parse(first) as { session_id: string };
  await place.run(["resume", session_id, "Thank you", "--model", "script:more.yaml"]);
}

async function tell(title: string, args: readonly string[], shown: RegExp): Promise<string> {
  const told = await tellStory(
    { script: SCRIPT, args, rows: 24, before: talkTwice },
    async (screen) => {
      await screen.end();
      await screen.moment(title, shown);
    },
  );
  return normalise(told);
}

/** Short ids, the clock of the reader, and what depends on how many tools there are. */
function normalise(told: string): string {
  return told
    .replaceAll(/^[0-9a-v]{8}(?= {2})/gm, "00000000")
    .replaceAll(/\d\d:\d\d:\d\d\.\d{3}/g, "00:00:00.000")
    .replaceAll(/\d+(?= (?:bytes|loaded|deferred|excluded|tools)\b)/g, "N");
}

describe.skipIf(!canUseTmux())("the story of what is stored (needs tmux)", () => {
  it("lists sessions, shows one, and tells its facts", async () => {
    verifies("CLI-4", "CLI-9");
    const told = [
      await tell("soong sessions", ["sessions"], /What do the notes say\?/),
      await tell("soong show", ["show"], /不客气/),
      await tell("soong events", ["events"], /run\.completed/),
    ];
    await expect(told.join("\n")).toMatchFileSnapshot("stored.txt");
  });

  it("goes back to before a prompt that is picked by its text", async () => {
    verifies("CLI-4", "CLI-9");
    const told = await tellStory(
      { script: SCRIPT, args: ["rewind"], rows: 12, before: talkTwice },
      async (screen) => {
        await screen.moment("soong rewind", /Thank you/);
        await screen.press("Enter");
        await screen.end();
        await screen.moment("rewound", /continues from/);
        const { stdout } = await screen.place.run(["show"]);
        expect(stdout).not.toContain("Thank you");
      },
    );
    await expect(told).toMatchFileSnapshot("rewind.txt");
  });
});
