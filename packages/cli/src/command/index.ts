// The command module: what can be typed behind `soong`. Each command is loaded when it is asked for, and
// `--version` loads none.

import { VERSION } from "./version.ts";

/** Takes the arguments behind the program's name; answers with the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    process.stdout.on("error", () => {});
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  if (args[0] === "__complete") {
    const { printCandidates } = await import("./setup/complete-words.ts");
    return printCandidates(args.slice(args[1] === "--" ? 2 : 1), process);
  }
  const { runProgram } = await import("./program.ts");
  return runProgram(args, process);
}
