// `soong call`: one call through the whole pipeline, recorded in a session of the store (CLI-3, PIPE-8).

import { viewsOf, type AskPermission, type JsonObject, type ToolResult } from "@soong/core";
import { EXIT, visible, visibleLine, type Output } from "../../output/index.ts";
import type { Runtime, StoredSession } from "../../runtime/open-runtime.ts";
import { COMMANDS } from "../commands.ts";
import { chooseServers, withReadyRuntime, onStop } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { createTerminalQuestions, type Questions } from "../terminal-questions.ts";
import { applyFlags, printFlagHelp, refuseUnknownTool, readToolInput } from "./tool-input.ts";

const CALL_OPTIONS = Object.keys(COMMANDS.call.options);

export const callTool: Handler<"call"> = async (context, { tool, input: words }, options) => {
  const typed = await readToolInput(tool, words, context);
  const { output, isInteractive, print } = context;
  const { yes = false } = options;
  const wish = {
    ...createApprover(context, yes),
    isBrief: true,
    servers: chooseServers(tool),
    // Most calls need nothing of it, and are to be quick.
    agents: /^(agent|internal)\./.test(tool),
  };
  return withReadyRuntime(context, options, wish, async (runtime) => {
    refuseUnknownTool(runtime, tool);
    if (typed.isHelp) return printFlagHelp(context, tool, runtime, CALL_OPTIONS);
    const input = await applyFlags(typed, tool, runtime, CALL_OPTIONS);
    const held = await runtime.openSession({ title: `soong call ${visibleLine(tool)}` });
    const { ids, result, exitCode } = await makeCall(context, held, tool, input);
    print({ ...ids, result }, () => showResult(output, runtime, result));
    // No one could be asked, and that was all that was missing.
    const isUnasked =
      result.status === "denied" && result.error?.error_class === "permission_denied";
    if (isUnasked && !yes && !isInteractive) {
      output.note("Add --yes to approve this one call.");
    }
    return exitCode;
  });
};

/** One call in a run of its own; then the session is closed. */
export async function makeCall(
  context: CommandContext,
  held: StoredSession,
  name: string,
  input: string | JsonObject,
): Promise<{
  readonly ids: { readonly session_id: string; readonly run_id: string };
  readonly result: ToolResult;
  readonly exitCode: number;
  readonly isInterrupted: boolean;
}> {
  const run = await held.session.startRun();
  let interruptedWith: number | undefined;
  const stopListening = onStop(context, held, (reason, exitCode = EXIT.interrupted) => {
    interruptedWith ??= exitCode;
    void run.abort(reason);
  });
  try {
    const [result] = await run.execute([{ name, arguments: input }]);
    if (result === undefined) throw new Error("the call has no result");
    const { status, is_error } = result;
    const isInterrupted = interruptedWith !== undefined;
    run.end(isInterrupted ? "aborted" : is_error ? "failed" : "completed");
    const ids = { session_id: held.session.session_id, run_id: run.identity.run_id };
    await held.close();
    const isDenied = status === "denied" || status === "rejected";
    const exitCode = interruptedWith ?? (isDenied ? EXIT.denied : is_error ? EXIT.failed : EXIT.ok);
    return { ids, result, exitCode, isInterrupted };
  } finally {
    stopListening();
  }
}

/** PERM-7: `--yes` is the user's answer to this one call; without a user there is no answer. */
function createApprover(
  { isInteractive, stdin, output }: CommandContext,
  yes: boolean,
): Partial<Pick<Questions, "ask" | "elicit">> {
  const allowOnce: AskPermission = () => ({ decision: "allow_once", answered_by: "--yes" });
  if (!isInteractive) return yes ? { ask: allowOnce } : {};
  const { ask, elicit } = createTerminalQuestions(stdin, output);
  return { ask: yes ? allowOnce : ask, elicit };
}

/** What came of it on stdout; why it failed on stderr, unless the content says so already. */
export function showResult(output: Output, { kernel }: Runtime, result: ToolResult): void {
  const definition = kernel.registry.current(result.tool_name)?.definition;
  const text = visible(viewsOf(result, definition).person).replace(/\n$/, "");
  const { error } = result;
  if (error === undefined) {
    output.line(text);
  } else {
    const sentence = visible(error.message);
    // Some tools show a failure as its summary, which is the same sentence, cut.
    const isSaid = ["", sentence.trim(), visible(result.summary).trim()].includes(text.trim());
    if (!isSaid) output.line(text);
    if (isSaid || !text.includes(sentence)) output.note(sentence, "red");
  }
  for (const { artifact_id, name, size } of result.artifacts) {
    const about = name === undefined ? "" : ` (${visibleLine(name)})`;
    output.note(`kept as ${visibleLine(artifact_id)}${about}, ${size} bytes`);
  }
}
