// From arguments to an exit code: finds the command, runs it, and says in one sentence why it could not.

import { CommanderError } from "commander";
import { CommandError, createOutput, EXIT, describeFailure, visible } from "../output/index.ts";
import { listenForInterrupts } from "./signals.ts";
import { createProgram } from "./program.ts";

export async function runProgram(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const { env, stdin, stdout, stderr } = host;
  const output = createOutput(stdout, stderr, env);
  const context = {
    env,
    cwd: readCwd(host),
    output,
    stdin,
    isInteractive: stdin.isTTY && stderr.isTTY,
    interrupts: listenForInterrupts(host),
  };
  let exitCode: number = EXIT.ok;
  const program = createProgram(context, (code) => (exitCode = code), args);
  try {
    await program.parseAsync(args, { from: "user" });
    await output.drained();
    if (output.lost === undefined) return exitCode;
    throw new CommandError(`The output is not complete: ${output.lost}. Look at where it goes.`);
  } catch (error) {
    const isUsage = error instanceof CommanderError;
    if (isUsage && error.exitCode === 0) return EXIT.ok;
    if (isUsage && error.code === "commander.help") return EXIT.usage;
    const command = program.commands.find((one) => one.name() === args[0]);
    const failure = isUsage
      ? { message: describeUsageError(error, command?.name()), exitCode: EXIT.usage }
      : describeFailure(error);
    output.note(`${output.noteColours.red("soong:")} ${failure.message}`);
    return failure.exitCode;
  }
}

/** A directory that was removed under us still has the name we came in by; using it fails with a sentence. */
function readCwd(host: NodeJS.Process): string {
  try {
    return host.cwd();
  } catch {
    return host.env["PWD"] ?? "/";
  }
}

function describeUsageError({ message }: CommanderError, command: string | undefined): string {
  const sentence = visible(message)
    .replace(/^error: /, "")
    .replace(/\n\(Did you mean (.*)\?\)$/s, "; did you mean $1?");
  const end = /[.?]$/.test(sentence) ? "" : ".";
  const words = ["soong", ...(command === undefined ? [] : [command]), "--help"];
  return `${sentence}${end} \`${words.join(" ")}\` lists what there is.`;
}
