// Which arguments of a command could name a file. What a program is known to take for a pattern, a message or a number is no path, even if it
// looks like; where a single option is not understood, every argument counts.

import { baseName, isReadingProgram, isSimpleSedScript } from "@soong/core/internal";
import { gitArguments } from "./git-arguments.ts";
import { isHarmlessAwkProgram } from "./harmless-programs.ts";
import { matchArguments, type ArgumentKind } from "./match-arguments.ts";
import { programTable } from "./programs.ts";

/** The arguments without those; values of options stand alone. */
export function argumentsThatName(argv: readonly string[]): readonly string[] {
  const [program = "", ...args] = argv;
  const name = baseName(program);
  if (name === "git") return [program, ...withoutMessages(args)];
  const table = programTable(name);
  if (!table.marks.has("proven") && !isReadingProgram(name)) return argv;
  const counting: string[] = [program];
  const matched = matchArguments(table, args, (kind, value) => {
    if (!isText(kind, value)) counting.push(value);
    // Any other text may be the name of a file to such a program: `awk -v name=…`.
    return kind !== "awk_program" || isHarmlessAwkProgram(value);
  });
  return typeof matched === "string" ? argv : counting;
}

function isText(kind: ArgumentKind, value: string): boolean {
  if (kind === "awk_program") return isHarmlessAwkProgram(value);
  if (kind === "sed_script") return isSimpleSedScript(value);
  // Only modules are files.
  if (kind === "jq_filter") return !/\b(?:import|include)\b/.test(value);
  return kind === "text" || kind === "number" || kind === "word" || kind === "date_format";
}

/** `git commit -m text` */
function withoutMessages(args: readonly string[]): readonly string[] {
  const { options, subcommand, rest } = gitArguments(args);
  if (!/^(?:commit|tag|merge|stash)$/.test(subcommand)) return args;
  const named = rest.filter((arg, index) => {
    const isBehind = /^(?:-[aqsvn]*m|--message)$/.test(rest[index - 1] ?? "");
    return !isBehind && !arg.startsWith("--message=");
  });
  return [...options, subcommand, ...named];
}
