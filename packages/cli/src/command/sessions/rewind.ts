// `soong rewind`: the conversation of a session continues from an earlier node; nothing is deleted (STORE-2, CLI-7).

import { createKernel } from "@soong/core";
import { EXIT, visibleLine } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { refuseNothingStored, withReadOnlyStore, withStore } from "../stored.ts";
import { argument, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "rewind",
  summary: "let a session continue from an earlier node; nothing is deleted",
  arguments: [argument("<session>", "its id"), argument("<node>", "the id of the node")],
  examples: ["soong rewind session_0abc node_0def"],
  run: rewindSession,
};

async function rewindSession(
  context: CommandContext,
  session_id: string,
  node_id: string,
): Promise<number> {
  await withReadOnlyStore(
    context,
    async (store) => void (await store.readSession(session_id)),
    () => refuseNothingStored(`session ${session_id}`),
  );
  return withStore(context, async (store) => {
    const kept = await store.openSession(session_id);
    // Without tools and hooks: this records one fact and starts nothing.
    const session = await createKernel().openSession(kept);
    try {
      await kept.rewind(session.recorder, node_id);
    } finally {
      await session.close();
      await kept.close();
    }
    context.output.line(
      `Session ${visibleLine(session_id)} continues from ${visibleLine(node_id)}; what came after it stays as another branch.`,
    );
    return EXIT.ok;
  });
}
