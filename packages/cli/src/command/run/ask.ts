// `soong`, alone or with a prompt (CLI-1, CLI-2): a conversation at a terminal, which the prompt begins; without a
// terminal, or with -p, one run that prints its answer. -c and -r say which session it is in.

import { resolve } from "node:path";
import { EXIT, UsageError } from "../../output/index.ts";
import { hasTerminal } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { findSession } from "../stored.ts";

export const answerOrConverse: Handler<""> = async (context, { prompt: words }, options) => {
  const { print = false, cwd = "", outputSchema } = options;
  const prompt = words.every((word) => word.trim() === "") ? undefined : words.join(" ");
  const at = { ...context, cwd: resolve(context.cwd, cwd) };
  const found = await findContinuedSession(at, options);
  if (found === undefined) return EXIT.interrupted;
  const { session } = found;
  const isPrinted = print || context.json || outputSchema !== undefined;
  const isAsked = (prompt ?? session) !== undefined;
  if (isPrinted || (isAsked && !hasTerminal(context))) {
    const { runInSession } = await import("./run.ts");
    return runInSession(context, prompt, options, session);
  }
  const { converse } = await import("./converse.ts");
  return converse(context, options, { resume: session, prompt });
};

/** Undefined: none was chosen from the list. */
async function findContinuedSession(
  context: CommandContext,
  {
    continue: isNewest = false,
    resume,
  }: { readonly continue?: boolean; readonly resume?: string | true },
): Promise<{ readonly session: string | undefined } | undefined> {
  if (isNewest && resume !== undefined) {
    throw new UsageError(
      "-c continues the newest session and -r the one you name: give one of them.",
    );
  }
  if (resume === true) {
    const { chooseSession } = await import("../sessions/choose-session.ts");
    const session = await chooseSession(context);
    return session === undefined ? undefined : { session };
  }
  if (!isNewest && resume === undefined) return { session: undefined };
  const { session_id } = await findSession(context, resume, { isConversation: true });
  return { session: session_id };
}
