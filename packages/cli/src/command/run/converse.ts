// `soong` alone, and `soong resume SESSION` without a prompt: a conversation at this terminal (CLI-1). Puts the
// runtime, the terminal and the parts of other commands together; the conversation module does the talking.

import { resolve } from "node:path";
import { stdout } from "node:process";
import { modelFromEnvironment } from "@soong/agent";
import { systemClock, type Mode } from "@soong/core";
import { within } from "@soong/core/internal";
import type { LoadedConfig } from "../../config/index.ts";
import { createApprovalBroker } from "@soong/control";
import { converse, openingText, openPromptHistory, openTalk } from "../../conversation/index.ts";
import { UsageError } from "../../output/index.ts";
import { loadMainAgent, openModels, openRuntime, collectSecrets } from "../../runtime/index.ts";
import { openTerminal } from "../../terminal/index.ts";
import { describeWaiting } from "../await-servers.ts";
import { loadUserConfig, type CommandContext } from "../context.ts";
import { createSharedCommands } from "./conversation-commands.ts";
import { onTermination } from "../signals.ts";
import type { RuleFlags } from "../define-command.ts";

export interface ConverseOptions extends RuleFlags {
  readonly model?: string;
  readonly agent?: string;
  readonly mode?: Mode;
}

/** How long a user who leaves in a hurry waits for the disk. */
const HURRY_MS = 1000;
/** How long what is under way may take to end before that. */
const LEAVING_MS = 1000;
const USUAL_ROWS = 24;

export async function converseAtTerminal(
  context: CommandContext,
  options: ConverseOptions,
  resume?: string,
): Promise<number> {
  const { env, stdin } = context;
  if (!isTerminal(context)) {
    throw new UsageError(
      'A conversation needs a terminal. `soong run "PROMPT"` works without one, and takes the prompt from stdin, too.',
    );
  }
  const { allow = [], deny = [], cwd = "" } = options;
  const config = await loadUserConfig(context);
  const definition =
    options.agent === undefined ? undefined : await loadMainAgent(config.home, options.agent);
  const { model = definition?.model, mode = definition?.mode } = options;
  refuseNoModel(config, context, model);
  const models = await openModels(config.values, env, model);
  const broker = createApprovalBroker();
  let say = (text: string): void => context.output.note(text);
  const clock = systemClock();
  const runtime = await openRuntime({
    env,
    cwd: resolve(context.cwd, cwd),
    config,
    flags: { allow, deny, mode },
    broker,
    agents: true,
    hooks: models.flatMap((one) => one.hooks ?? []),
    onWaiting: (server_ids) => say(describeWaiting(server_ids)),
    note: (text) => say(text),
  });
  const leaving = new AbortController();
  try {
    // While the user thinks; what they say first waits for whoever is not there by then.
    void runtime.ready(leaving.signal);
    const { project } = runtime.roots;
    const talk = await openTalk({
      runtime,
      config,
      env,
      models,
      mode,
      definition,
      resume,
    });
    const history = await openPromptHistory(config.home, await collectSecrets(config, env));
    const terminal = openTerminal({ stdin, stdout, env });
    try {
      say = (text) => terminal.print(terminal.colours.dim(text));
      terminal.print(await openingText(terminal, talk, project));
      const quitNow = (exitCode: number): void => {
        terminal.close();
        // What is on its way to the disk may arrive; what hangs may not hold anybody up.
        void Promise.resolve(within(clock, HURRY_MS, () => runtime.close())).finally(() =>
          process.exit(exitCode),
        );
      };
      return await converse({
        terminal,
        clock,
        talk,
        broker,
        history,
        project,
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
      terminal.close();
      say = (text) => context.output.note(text);
      if (talk.isKept) {
        context.output.note(`\`soong resume ${talk.session_id}\` continues this conversation.`);
      }
    }
  } finally {
    leaving.abort();
    await runtime.close();
  }
}

/** Someone sits there and sees what is shown. */
function isTerminal({ stdin }: Pick<CommandContext, "stdin">): boolean {
  return stdin.isTTY && stdout.isTTY;
}

function refuseNoModel(
  { values }: LoadedConfig,
  { env }: CommandContext,
  given: string | undefined,
): void {
  if ((given ?? values.model.default ?? modelFromEnvironment(env)) !== undefined) return;
  throw new UsageError(
    "There is no model to talk to: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or name one with --model provider:model. `soong demo` shows Soong at work without any.",
  );
}
