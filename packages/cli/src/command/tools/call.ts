// `soong call`: one call through the whole pipeline, kept in a session of the store (CLI-3, PIPE-8).

import { resolve } from "node:path";
import { viewsOf, type AskPermission, type ToolResult } from "@soong/core";
import { EXIT, visible, visibleLine, type Output } from "../../output/index.ts";
import { openRuntime, type Runtime } from "../../runtime/index.ts";
import { awaitServers, chooseServers, noteWaiting } from "../await-servers.ts";
import { loadUserConfig, type CommandContext } from "../context.ts";
import { createTerminalQuestions, type Questions } from "../terminal-questions.ts";
import { onStop } from "../follow-session.ts";
import { refuseUnknownTool, readToolInput } from "./tool-input.ts";
import {
  argument,
  JSON_OPTION,
  option,
  RULE_OPTIONS,
  type CommandDefinition,
  type RuleFlags,
} from "../define-command.ts";

export const command: CommandDefinition = {
  name: "call",
  summary: "call one tool, through validation, permission, hooks and record",
  arguments: [
    argument("<tool>", "its name, as `soong tools` lists it"),
    argument("[json]", "its input; - reads it from stdin; default: {}"),
  ],
  options: [JSON_OPTION, option("--yes", "approve without asking"), ...RULE_OPTIONS],
  examples: [
    `soong call code.read_file '{"path": "README.md"}'`,
    `soong call code.run_command '{"argv": ["git", "status"]}' --yes`,
    `echo '{"query": "main"}' | soong call code.search - --json`,
  ],
  exitCodes: "0 it succeeded, 1 the tool failed, 2 usage error, 3 denied, 130 interrupted",
  run: callTool,
};

interface CallOptions extends RuleFlags {
  readonly json?: boolean;
  readonly yes?: boolean;
}

async function callTool(
  context: CommandContext,
  tool: string,
  given: string | undefined,
  options: CallOptions,
): Promise<number> {
  const input = await readToolInput(given, context);
  const { output } = context;
  const { allow = [], deny = [], cwd = "" } = options;
  const person = createApprover(context, options);
  const runtime = await openRuntime({
    env: context.env,
    cwd: resolve(context.cwd, cwd),
    config: await loadUserConfig(context),
    flags: { allow, deny },
    ...person,
    isBrief: true,
    servers: chooseServers(tool),
    // Most calls need nothing of it, and are to be quick.
    agents: /^(agent|internal)\./.test(tool),
    ...noteWaiting(context, options.json === true),
    note: (text) => output.note(output.noteColours.dim(visible(text))),
  });
  try {
    if ((await awaitServers(context, runtime)) === "interrupted") return EXIT.interrupted;
    refuseUnknownTool(runtime, tool);
    return await callOnce(context, runtime, tool, input, options);
  } finally {
    await runtime.close();
  }
}

/** PERM-7: `--yes` is the user's answer to this one call; without a user there is no answer. */
function createApprover(
  context: CommandContext,
  { yes }: CallOptions,
): Partial<Pick<Questions, "ask" | "elicit">> {
  const yesToThis: AskPermission = () => ({ decision: "allow_once", answered_by: "--yes" });
  if (!context.isInteractive) return yes === true ? { ask: yesToThis } : {};
  const { ask, elicit } = createTerminalQuestions(context.stdin, context.output);
  return { ask: yes === true ? yesToThis : ask, elicit };
}

async function callOnce(
  context: CommandContext,
  runtime: Runtime,
  tool: string,
  input: string,
  { json = false, yes = false }: CallOptions,
): Promise<number> {
  const { output, isInteractive } = context;
  const held = await runtime.openSession({ title: `soong call ${visibleLine(tool)}` });
  const run = await held.session.startRun();
  let interruptedWith: number | undefined;
  const stopListening = onStop(context, held, (reason, exitCode = EXIT.interrupted) => {
    interruptedWith ??= exitCode;
    void run.abort(reason);
  });
  try {
    const [result] = await run.execute([{ name: tool, arguments: input }]);
    if (result === undefined) throw new Error("the call has no result");
    run.end(interruptedWith !== undefined ? "aborted" : result.is_error ? "failed" : "completed");
    const ids = { session_id: held.session.session_id, run_id: run.identity.run_id };
    await held.close();
    if (json) output.record("soong.call/1", { ...ids, result });
    else showResult(output, runtime, result);
    if (result.status === "denied" && !yes && !isInteractive) noteYesFlag(output, result);
    return interruptedWith ?? toExitCode(result);
  } finally {
    stopListening();
  }
}

function toExitCode({ status, is_error }: ToolResult): number {
  if (status === "denied" || status === "rejected") return EXIT.denied;
  return is_error ? EXIT.failed : EXIT.ok;
}

/** What came of it on stdout; why it failed on stderr, unless the content says so already. */
function showResult(output: Output, { kernel }: Runtime, result: ToolResult): void {
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
    if (isSaid || !text.includes(sentence)) output.note(output.noteColours.red(sentence));
  }
  for (const { artifact_id, name, size } of result.artifacts) {
    const about = name === undefined ? "" : ` (${visibleLine(name)})`;
    output.note(`kept as ${visibleLine(artifact_id)}${about}, ${size} bytes`);
  }
}

/** No one could be asked, and that was all that was missing. */
function noteYesFlag(output: Output, { error }: ToolResult): void {
  if (error?.error_class !== "permission_denied") return;
  output.note("Add --yes to say yes to this one call.");
}
