// `soong resume`: continues a session, at a terminal as a conversation.

import type { CommandContext } from "../context.ts";
import { argument, type CommandDefinition } from "../define-command.ts";
import { refuseUnknownSession } from "../stored.ts";
import { RUN_EXIT_CODES, RUN_OPTIONS, runPrompt, type RunOptions } from "./run.ts";

export const command: CommandDefinition = {
  name: "resume",
  summary: "continue a session where it left off, also a run that was cut off",
  arguments: [
    argument("<session>", "its id, as `soong sessions` lists it"),
    argument(
      "[prompt]",
      "what to do next; default: stdin, else the interrupted run continues, in a conversation on a terminal",
    ),
  ],
  options: RUN_OPTIONS,
  examples: ["soong resume session_0abc", `soong resume session_0abc "Now the tests"`],
  exitCodes: RUN_EXIT_CODES,
  run: resumeSession,
};

async function resumeSession(
  context: CommandContext,
  session: string,
  prompt: string | undefined,
  options: RunOptions,
): Promise<number> {
  await refuseUnknownSession(context, session);
  if (prompt === undefined && options.json !== true && context.stdin.isTTY) {
    const { converseAtTerminal } = await import("./converse.ts");
    return converseAtTerminal(context, options, session);
  }
  return runPrompt(context, prompt, options, session);
}
