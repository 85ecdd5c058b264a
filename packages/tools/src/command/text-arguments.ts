// Which arguments of a command could name a file. What a program is known to take for a pattern, a message or a number is no path, whatever it
// looks like; where a single option is not understood, every argument counts.

import { baseName, innerCommands } from "@soong/core/internal";
import { gitArguments } from "./git-arguments.ts";
import { isHarmlessAwkProgram } from "./harmless-programs.ts";
import { matchArguments } from "./match-arguments.ts";
import type { ArgumentKind, ReadOnlyRule } from "./read-only-rule.ts";
import { READ_ONLY_COMMANDS } from "./read-only-table.ts";

/** The arguments without those; values of options stand alone. */
export function argumentsThatName(argv: readonly string[]): readonly string[] {
  const [program = "", ...args] = argv;
  const name = baseName(program);
  if (name === "git") return [program, ...withoutMessages(args)];
  if (name === "sed") return [program, ...withoutScripts(argv)];
  const rule = Object.hasOwn(RULES, name) ? RULES[name] : undefined;
  if (rule === undefined) return argv;
  const counting: string[] = [program];
  const matched = matchArguments(rule, args, (kind, value) => {
    if (!isText(kind, value)) counting.push(value);
    // Any other text may be the name of a file to such a program: `awk -v name=…`.
    return kind !== "awk_program" || isHarmlessAwkProgram(value);
  });
  return typeof matched === "string" ? argv : counting;
}

function isText(kind: ArgumentKind, value: string): boolean {
  if (kind === "awk_program") return isHarmlessAwkProgram(value);
  // Only modules are files.
  if (kind === "jq_filter") return !/\b(?:import|include)\b/.test(value);
  return kind === "text" || kind === "number" || kind === "word" || kind === "date_format";
}

const { grep: PROVEN_GREP = {} } = READ_ONLY_COMMANDS;

const GREP: ReadOnlyRule = {
  ...PROVEN_GREP,
  mixed: true,
  flags: `${PROVEN_GREP.flags} -P -R -U -Z -b -r -y -z --binary --dereference-recursive --line-buffered
    --no-ignore-case --null --null-data --recursive`,
  values: {
    ...PROVEN_GREP.values,
    "-d --directories -D --devices --binary-files": "word",
    "--exclude --exclude-dir --include": "text",
    "--exclude-from": "file",
  },
};

const RIPGREP: ReadOnlyRule = {
  flags: `-. -F -H -I -L -N -P -S -U -a -c -i -l -n -o -p -s -u -v -w -x --case-sensitive --count --files-with-matches
    --files-without-match --fixed-strings --follow --hidden --ignore-case --invert-match --json --line-number
    --line-regexp --multiline --no-filename --no-heading --no-ignore --no-ignore-vcs --no-line-number
    --only-matching --pcre2 --pretty --smart-case --stats --text --unrestricted --vimgrep --with-filename
    --word-regexp`,
  values: {
    "-A --after-context -B --before-context -C --context -m --max-count -d --max-depth": "number",
    "-T --type-not -t --type --color --sort": "word",
    "-e --regexp -g --glob --iglob": "text",
    "-f --file": "file",
  },
  operands: ["text", "path"],
  noFirstWith: "-e --regexp -f --file",
  mixed: true,
};

const RULES: Readonly<Record<string, ReadOnlyRule>> = {
  ...READ_ONLY_COMMANDS,
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: RIPGREP,
};

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

/** Only scripts that plainly read and write no other file. */
function withoutScripts(argv: readonly string[]): readonly string[] {
  const args = argv.slice(1);
  if (innerCommands(argv, "/usr/bin/sed").told.length > 0) return args;
  const named = args.filter(
    (arg, index) =>
      !/^(?:-[nErsuz]*e.|--expression=)/s.test(arg) && !/^-[nErsuz]*e$/.test(args[index - 1] ?? ""),
  );
  if (args.some((arg) => /^(?:-[nErsuz]*e|--expression=)/.test(arg))) return named;
  const script = args.findIndex((arg) => !arg.startsWith("-") || arg === "-");
  return args.filter((_, index) => index !== script);
}
