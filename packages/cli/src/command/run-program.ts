// From arguments to an exit code: finds the command, runs it, and says in one sentence why it could not.

import { CommanderError } from "commander";
import {
  CommandError,
  createOutput,
  EXIT,
  describeFailure,
  visible,
  type Output,
} from "../output/index.ts";
import type { CommandContext } from "./context.ts";
import { listenForInterrupts } from "./signals.ts";
import { createProgram } from "./program.ts";

export async function runProgram(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const { env, stdin, stdout, stderr } = host;
  const output = createOutput(stdout, stderr, env);
  const context: CommandContext = {
    env,
    cwd: readCwd(host),
    output,
    stdin,
    isInteractive: stdin.isTTY && stderr.isTTY,
    interrupts: listenForInterrupts(host),
  };
  let exitCode: number = EXIT.ok;
  const program = await createProgram(context, (code) => (exitCode = code), args);
  try {
    await program.parseAsync(args, { from: "user" });
    await output.drained();
    if (output.lost === undefined) return exitCode;
    throw new CommandError(`The output is not complete: ${output.lost}. Look at where it goes.`);
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportFailure(error, output);
    const command = program.commands.find((one) => one.name() === args[0]);
    return reportUsageError(error, output, command === undefined ? "" : ` ${command.name()}`);
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

/** Help and version end here as well, having said what they had to say. */
function reportUsageError(
  { exitCode, message, code }: CommanderError,
  output: Output,
  command: string,
): number {
  if (exitCode === 0) return EXIT.ok;
  if (code === "commander.help") return EXIT.usage;
  const sentence = visible(message)
    .replace(/^error: /, "")
    .replace(/\n\(Did you mean (.*)\?\)$/s, "; did you mean $1?");
  const end = /[.?]$/.test(sentence) ? "" : ".";
  output.note(
    `${output.noteColours.red("soong:")} ${sentence}${end} \`soong${command} --help\` lists what there is.`,
  );
  return EXIT.usage;
}

function reportFailure(error: unknown, output: Output): number {
  const { message, exitCode } = describeFailure(error);
  output.note(`${output.noteColours.red("soong:")} ${message}`);
  return exitCode;
}
