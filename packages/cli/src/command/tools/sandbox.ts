// `soong sandbox`: a command in the sandbox, as a call of code.run_command through the whole pipeline (CMD-6), so that a user
// can try what works inside; without a command, what the sandbox opens and closes here.

import { constants } from "node:os";
import {
  NoOneToAsk,
  type AskPermission,
  type PlannedSandbox,
  type SandboxMode,
  type ToolResult,
} from "@soong/core";
import { describeSandbox, listSandbox } from "@soong/core/internal";
import { asRecord } from "@soong/schema";
import { EXIT, visibleLine, wrap } from "../../output/index.ts";
import type { Runtime, StoredSession } from "../../runtime/open-runtime.ts";
import { loadUserConfig, withRuntime } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { createUserQuestions } from "../terminal-questions.ts";
import { makeCall, showResult } from "./call.ts";
import { explainCall } from "./explain.ts";

const RUN_COMMAND = "code.run_command";

export const runInSandbox: Handler<"sandbox"> = async (context, { command: argv }, { cwd }) => {
  const config = await loadUserConfig(context);
  const wish = { ask: approveTyped(context), isBrief: true, servers: "none", config } as const;
  return withRuntime(context, { cwd, isSandboxed: true }, wish, async (runtime) => {
    if (argv.length === 0) return showLimits(context, runtime, config.values.sandbox.mode);
    const held = await runtime.openSession({
      title: `soong sandbox ${visibleLine(argv.join(" "))}`,
    });
    const announced = context.json ? undefined : announceLimits(context, runtime, held);
    // It is the user's own, and no model waits for it.
    const timeout_ms = config.values.tools.max_timeout_ms;
    const call = await makeCall(context, held, RUN_COMMAND, { argv: [...argv], timeout_ms });
    await announced;
    const { ids, result, exitCode, isInterrupted } = call;
    context.print({ ...ids, result }, () => showResult(context.output, runtime, result));
    if (result.error?.code === "sandbox_unavailable") noteFix(context, runtime);
    return isInterrupted ? exitCode : (exitCodeOf(result) ?? exitCode);
  });
};

/** Typing a command is the yes to it where only the defaults ask. What else is asked, such as for a secret, the user answers. */
function approveTyped(context: CommandContext): AskPermission {
  const { ask } = createUserQuestions(context);
  return async (request, about) => {
    const asking = request.chain.find(({ decisive }) => decisive === true);
    if (asking?.layer === "defaults") {
      return { decision: "allow_once", answered_by: "soong sandbox" };
    }
    if (ask === undefined) throw new NoOneToAsk("there is no terminal to ask at");
    return ask(request, about);
  };
}

/** As a shell would answer. */
function exitCodeOf({ data }: ToolResult): number | undefined {
  const { exit_code, signal } = asRecord(data);
  if (typeof exit_code === "number") return exit_code;
  const number = constants.signals[signal as NodeJS.Signals];
  return number === undefined ? undefined : 128 + number;
}

/** When the command starts. */
async function announceLimits(
  { output }: CommandContext,
  { roots }: Runtime,
  { session, kept }: StoredSession,
): Promise<void> {
  for await (const fact of session.facts({ after: kept.lastSeq ?? 0 })) {
    if (fact.type !== "sandbox.applied") continue;
    const sandbox = { ...fact.data, state: "applied" } as const;
    output.note(describeSandbox({ sandbox, project: roots.project }) ?? "", "dim");
    return;
  }
}

/** What a command would find, by the plan of one. */
async function showLimits(
  context: CommandContext,
  runtime: Runtime,
  mode: SandboxMode,
): Promise<number> {
  const { output, print } = context;
  const state = runtime.sandbox.state();
  const { sandbox, why } =
    "missing" in state ? { sandbox: withoutSandbox(state) } : await planShell(runtime);
  const about = { sandbox, project: runtime.roots.project };
  print({ mode, ...state, sandbox, why }, () => [
    ...wrap(describeSandbox(about) ?? visibleLine(why ?? ""), output.width),
    ...listSandbox(about).map((line) => output.colours.dim(`  ${line}`)),
    ...(mode === "off" ? ['sandbox.mode is "off": commands of an agent run without it.'] : []),
  ]);
  noteFix(context, runtime);
  return "missing" in state ? EXIT.failed : EXIT.ok;
}

function withoutSandbox({ missing: why }: { readonly missing: string }): PlannedSandbox {
  return { state: "missing", why };
}

/** Of a program that is not known to only read; or why none would run. */
async function planShell(
  runtime: Runtime,
): Promise<{ readonly sandbox?: PlannedSandbox | undefined; readonly why?: string }> {
  const session = await runtime.openEphemeralSession();
  const run = await session.startRun();
  const { explanation } = await explainCall(run, { name: RUN_COMMAND, arguments: SHELL });
  if (explanation.outcome === "refused") return { why: explanation.error.message };
  const { plan, reason } = explanation;
  return plan?.sandbox === undefined ? { why: reason } : { sandbox: plan.sandbox };
}

const SHELL = JSON.stringify({ argv: ["sh"] });

function noteFix({ output }: CommandContext, { sandbox }: Runtime): void {
  const state = sandbox.state();
  if ("fix" in state) output.note(visibleLine(state.fix));
}
