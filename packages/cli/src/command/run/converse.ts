// `soong` alone, and `soong resume SESSION` without a prompt: a conversation at this terminal (CLI-1). Puts the
// runtime, the terminal and the parts of other commands together; the conversation module does the talking.

import { stdout } from "node:process";
import { modelFromEnvironment } from "@soong/agent";
import { systemClock } from "@soong/core";
import { within } from "@soong/core/internal";
import { createApprovalBroker } from "@soong/control";
import { converse as runConversation } from "../../conversation/converse.ts";
import { openingText, openTalk } from "../../conversation/talk.ts";
import { openPromptHistory } from "../../conversation/prompt-history.ts";
import { UsageError } from "../../output/index.ts";
import { chooseMode, loadMainAgent, openModels } from "../../runtime/models.ts";
import { collectSecrets } from "../../runtime/secrets.ts";
import type { RuntimeOptions } from "../../runtime/open-runtime.ts";
import { openTerminal } from "../../terminal/screen-terminal.ts";
import { describeWaiting, hasTerminal, loadUserConfig, withRuntime } from "../context.ts";
import type { COMMANDS } from "../commands.ts";
import type { CommandContext, Options } from "../handler.ts";
import { onTermination } from "../signals.ts";
import { createSharedCommands } from "./conversation-commands.ts";

/** How long a user who leaves in a hurry waits for the disk. */
const HURRY_MS = 1000;
/** How long what is under way may take to end before that. */
const LEAVING_MS = 1000;
const USUAL_ROWS = 24;

export interface ConversationStart {
  /** The session to continue. */
  readonly resume?: string | undefined;
  /** Sent first. */
  readonly prompt?: string | undefined;
}

export async function converse(
  context: CommandContext,
  options: Omit<Options<(typeof COMMANDS)["resume"]>, "json" | "outputSchema">,
  { resume, prompt }: ConversationStart = {},
): Promise<number> {
  const { env, stdin } = context;
  if (!hasTerminal(context)) {
    throw new UsageError(
      'A conversation needs a terminal. `soong run "PROMPT"` works without one, and takes the prompt from stdin, too.',
    );
  }
  const config = await loadUserConfig(context);
  const definition =
    options.agent === undefined ? undefined : await loadMainAgent(config, options.agent);
  const { model = definition?.model } = options;
  const mode = chooseMode(options.mode, definition, (text) => context.output.note(text));
  if ((model ?? config.values.model.default ?? modelFromEnvironment(env)) === undefined) {
    throw new UsageError(
      "There is no model to talk to: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or name one with --model provider:model. `soong demo` shows Soong at work without any.",
    );
  }
  const models = await openModels(config.values, env, model);
  const broker = createApprovalBroker();
  let say = (text: string): void => context.output.note(text);
  const clock = systemClock();
  const leaving = new AbortController();
  const wish: Partial<RuntimeOptions> = {
    config,
    broker,
    agents: true,
    hooks: models.flatMap((one) => one.hooks ?? []),
    onWaiting: (server_ids) => say(describeWaiting(server_ids)),
    note: (text) => say(text),
  };
  return withRuntime(context, { ...options, mode }, wish, async (runtime) => {
    // While the user thinks; the first prompt waits for servers that are not there by then.
    void runtime.ready(leaving.signal);
    const { project } = runtime.roots;
    const talk = await openTalk({ runtime, config, env, models, mode, definition, resume });
    const history = await openPromptHistory(config.home, await collectSecrets(config, env));
    const terminal = openTerminal({ stdin, stdout, env });
    try {
      say = (text) => terminal.print(terminal.colours.dim(text));
      terminal.print(await openingText(terminal, talk, project));
      const quitNow = (exitCode: number): void => {
        terminal.close();
        // What is on its way to the disk may arrive; what hangs may not hold the user up.
        void Promise.resolve(within(clock, HURRY_MS, () => runtime.close())).finally(() =>
          process.exit(exitCode),
        );
      };
      return await runConversation({
        terminal,
        clock,
        talk,
        broker,
        history,
        project,
        first: prompt,
        own: createSharedCommands({ runtime, config, env, terminal }),
        rows: () => stdout.rows ?? USUAL_ROWS,
        onTermination,
        quitNow,
        quitSoon(exitCode) {
          // Holds nothing up itself: it is there for what does, such as a model that keeps silent.
          setTimeout(quitNow, LEAVING_MS, exitCode).unref();
        },
      });
    } finally {
      leaving.abort();
      terminal.close();
      say = (text) => context.output.note(text);
      if (talk.isKept) {
        context.output.note(`\`soong resume ${talk.session_id}\` continues this conversation.`);
      }
    }
  });
}
