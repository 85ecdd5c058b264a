// `soong memory forget`: what a memory came from does not bring it back.

import { forgetMemory } from "@soong/agent";
import { CommandError, EXIT, UsageError, visibleLine } from "../../output/index.ts";
import { memoryFolder } from "../../runtime/index.ts";
import { resolveHome, type CommandContext } from "../context.ts";
import { exclusively } from "./extract.ts";
import { argument, JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "forget",
  summary: "remove a memory; what it came from does not bring it back",
  arguments: [argument("<id>", "its id, as `soong memory list` has it")],
  options: [JSON_OPTION],
  examples: ["soong memory forget tabs-not-spaces-1a2b"],
  run: forget,
};

async function forget(
  context: CommandContext,
  id: string,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { output } = context;
  const folder = memoryFolder(await resolveHome(context));
  const forgotten = await forgetMemory({ folder, id, exclusively });
  if (forgotten.kind === "unknown") {
    throw new CommandError(
      `There is no memory ${visibleLine(id)}. \`soong memory list\` lists them.`,
    );
  }
  if (forgotten.kind === "ambiguous") {
    throw new UsageError(`Several are called so: give ${forgotten.ids.join(" or ")}.`);
  }
  if (json) output.record("soong.memory/1", { forgotten: { id, file: forgotten.file } });
  else output.line(`forgotten: ${visibleLine(forgotten.file)}`);
  return EXIT.ok;
}
