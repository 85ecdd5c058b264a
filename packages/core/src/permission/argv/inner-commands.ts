// Which commands a command runs besides itself (PERM-16), as far as its arguments say so. Everything is
// judged by names: nothing is looked up, nothing is run.

import {
  evaluatesText,
  ORDINARY_SHELL_LETTERS,
  ORDINARY_SHELL_OPTIONS,
} from "./evaluated-words.ts";
import { runByGit } from "./git-commands.ts";
import type { InnerCommands, KnownCommand } from "./known-command.ts";
import {
  ANYTHING,
  indexes,
  isHarmlessAssignment,
  mergeInner,
  NOT_UNDERSTOOD,
  runs,
  RUNS_NOTHING,
} from "./known-command.ts";
import { optionTable, readArguments } from "./options.ts";
import {
  isOfTheSystem,
  isPlainProgram,
  MULTI_CALL,
  namesOfProgram,
  programName,
} from "./plain-programs.ts";
import { readShellScript } from "./shell-script.ts";
import { OPTIONS_THAT_RUN, runByOptions, runByWrapper, WRAPPERS } from "./wrappers.ts";

/** Of a command and of all commands inside it, those inside those, and so on. */
export function innerCommands(argv: readonly string[], executable: string): InnerCommands {
  const [given = ""] = argv;
  const isKnown = isOfTheSystem(given) && isOfTheSystem(executable);
  // `sh` that is dash: two names, and mostly the same is known of both.
  const byText = new Map(
    namesOfProgram(given, executable)
      .map((name) => runByName(name, { words: argv, open: false }))
      .map((one) => [JSON.stringify(one), one]),
  );
  const first = mergeInner([...byText.values(), ...(isKnown ? [] : [ANYTHING])]);
  const commands: KnownCommand[] = [...first.commands];
  let { opaque } = first;
  let level: readonly KnownCommand[] = first.commands;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === MOST_LEVELS) return { ...first, commands, opaque: true };
    const found = level.map(runByCommand);
    opaque ||= found.some((one) => one.opaque);
    level = found.flatMap((one) => one.commands);
    for (const command of level) commands.push(command);
  }
  return { ...first, commands, opaque };
}

const MOST_LEVELS = 50;

function runByCommand(command: KnownCommand): InnerCommands {
  const [program] = command.words;
  // Which program it is only shows when it runs.
  if (program === undefined) return command.open ? NOT_UNDERSTOOD : RUNS_NOTHING;
  const named = runByName(programName(program), command);
  return isOfTheSystem(program) ? named : mergeInner([named, ANYTHING]);
}

function runByName(name: string, command: KnownCommand): InnerCommands {
  if (evaluatesText(name, command)) return ANYTHING;
  if (name === "tar" && /^[A-Za-z]*[IF]/.test(command.words[1] ?? "")) return ANYTHING;
  if (isPlainProgram(name)) return RUNS_NOTHING;
  const known = runByKnownName(name, command);
  if (known !== undefined) return known;
  // `python3.11`, `bash5`, `find.old`: what the name begins with, or something else again.
  const [, start = "", rest = ""] = /^([a-z]+)(.*)$/.exec(name) ?? [];
  const similar = runByKnownName(start, command);
  if (similar === undefined) return ANYTHING;
  return /^[-_]?[0-9][0-9.]*$/.test(rest)
    ? { ...similar, opaque: true }
    : mergeInner([similar, ANYTHING]);
}

function runByKnownName(name: string, command: KnownCommand): InnerCommands | undefined {
  if (MULTI_CALL.has(name)) return runByMultiCall(command);
  if (/^ld-(?:linux|musl)/.test(name)) return runByWrapper(command, WRAPPERS["ld.so"] ?? "");
  const handler = HANDLERS.get(name);
  if (handler !== undefined) return handler(command);
  if (Object.hasOwn(WRAPPERS, name)) return runByWrapper(command, WRAPPERS[name] ?? "");
  if (!Object.hasOwn(OPTIONS_THAT_RUN, name)) return undefined;
  return runByOptions(command, 1, OPTIONS_THAT_RUN[name] ?? "");
}

function runByMultiCall({ words, open }: KnownCommand): InnerCommands {
  if (words.length < 2) return open ? NOT_UNDERSTOOD : RUNS_NOTHING;
  return runs([{ words: words.slice(1), open }], indexes(1, words.length));
}

function runByShell({ words, open }: KnownCommand): InnerCommands {
  let at = 1;
  let hasScript = false;
  let opaque = open;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--" || word === "-") {
      at += 1;
      break;
    }
    if (/^--[a-z]/.test(word)) {
      // A file of commands that is run first.
      if (!/^--(?:norc|noprofile|posix|login|verbose|restricted|noediting)$/.test(word))
        opaque = true;
      continue;
    }
    if (!/^[-+]./.test(word)) break;
    if (word.startsWith("-") && word.includes("c")) hasScript = true;
    // With others it is interactive, reads what it is sent, or reads words in another way.
    if (!ORDINARY_SHELL_LETTERS.test(word.replaceAll(/[clO]/g, "o"))) opaque = true;
    if (!/[oO]$/.test(word)) continue;
    at += 1;
    const name = word.endsWith("o") ? ORDINARY_SHELL_OPTIONS : ORDINARY_BASH_OPTIONS;
    if (!name.test(words[at] ?? "")) opaque = true;
  }
  const operand = words[at];
  // A file of commands, or standard input.
  if (!hasScript)
    return { ...ANYTHING, runArguments: operand !== undefined && at === 1 ? [1] : "all" };
  return runByScript(operand, indexes(1, at + 1), { opaque, by_nature: true });
}

function runByScript(
  text: string | undefined,
  runArguments: InnerCommands["runArguments"],
  about: { opaque: boolean; by_nature?: boolean },
): InnerCommands {
  const script = readShellScript(text ?? "");
  return runs(script.commands, runArguments, { ...about, opaque: about.opaque || script.opaque });
}

const ORDINARY_BASH_OPTIONS = /^(?:dotglob|extglob|failglob|globstar|lastpipe|nullglob)$/;

/** A language that can run anything: what it is given to read is no command of ours. */
function runByInterpreter({ words }: KnownCommand): InnerCommands {
  return { ...ANYTHING, runArguments: (words[1] ?? "-").startsWith("-") ? "all" : [1] };
}

function runByFind({ words, open }: KnownCommand): InnerCommands {
  const commands: KnownCommand[] = [];
  const runArguments: number[] = [];
  let opaque = open;
  for (let at = 1; at < words.length; at += 1) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(words[at] ?? "")) continue;
    // A plus ends it only behind the names: elsewhere it is an argument.
    const end = words.findIndex(
      (word, index) => index > at && (word === ";" || (word === "+" && words[index - 1] === "{}")),
    );
    // A shell may have been meant to take the backslash away.
    const until = end === -1 ? words.length : end;
    if (end === -1) opaque = true;
    const given = words.slice(at + 1, until);
    const place = given.findIndex((word) => word.includes("{}"));
    commands.push({ words: place === -1 ? given : given.slice(0, place), open: place !== -1 });
    runArguments.push(...indexes(at, until + 1));
    at = until;
  }
  return runArguments.length === 0 && !opaque
    ? RUNS_NOTHING
    : runs(commands, runArguments, { opaque });
}

/** `fd -x program …`: the rest of the words, up to a semicolon. */
function runByFd({ words, open }: KnownCommand): InnerCommands {
  const place = words.findIndex((word) =>
    /^(?:-[a-zA-Z]*[xX]|--exec(?:-batch)?(?:=.*)?)$/.test(word),
  );
  if (place === -1) return open ? NOT_UNDERSTOOD : RUNS_NOTHING;
  const rest = words.slice(place + 1);
  const cut = rest.findIndex((word) => word.includes("{") || word === ";");
  const known = cut === -1 ? rest : rest.slice(0, cut);
  const isDoubtful = !/^(?:-[xX]|--exec(?:-batch)?)$/.test(words[place] ?? "") || cut !== -1;
  return runs([{ words: known, open: true }], indexes(place, words.length), { opaque: isDoubtful });
}

/** `su user -c script`: options stand anywhere. Without one a shell is started. */
function runBySu(command: KnownCommand): InnerCommands {
  const found = runByOptions(command, 1, "-c|--command|--session-command=script");
  return found.commands.length > 0 ? found : NOT_UNDERSTOOD;
}

function runByRunuser(command: KnownCommand): InnerCommands {
  const usesUser = command.words.some((word) => /^(?:-u.*|--user(?:=.*)?)$/.test(word));
  if (!usesUser) return runBySu(command);
  return runByWrapper(command, "-ugG|--user|--group|--supp-group=value");
}

/** The program text is run by awk itself, unless it says system or pipes. */
function runByAwk({ words, open }: KnownCommand): InnerCommands {
  const read = readArguments(optionTable("-Fv=value"), words, { from: 1, stops: true });
  if (open || typeof read === "string") return NOT_UNDERSTOOD;
  const program = (words[read.at] ?? "").replaceAll("||", "");
  return /system|\||@/.test(program) ? runs([], [read.at], { opaque: true }) : RUNS_NOTHING;
}

/** GNU sed runs what its `e` says: only scripts that plainly have none are taken. */
function runBySed({ words, open }: KnownCommand): InnerCommands {
  const read = readArguments(optionTable(SED), words, { from: 1, stops: true, names: "exact" });
  const opaque = runs([], indexes(1, words.length), { opaque: true });
  if (open || typeof read === "string" || words.includes("--")) return opaque;
  const { options, at } = read;
  const given = options.filter(({ kind }) => kind === "script").map(({ value = "" }) => value);
  const isSuffixPlain = options.every(
    ({ kind, value = "" }) => kind !== "suffix" || /^[.A-Za-z]*$/.test(value),
  );
  // GNU programs take options behind operands, too.
  const isKnown = isSuffixPlain && !words.slice(at).some((word) => /^-./.test(word));
  const scripts = given.length === 0 ? [words[at] ?? ""] : given;
  return isKnown && scripts.every(isSimpleSedScript) ? RUNS_NOTHING : opaque;
}

const SED = `-nErsuz -e|--expression=script -i?suffix --quiet --silent --regexp-extended --in-place --separate --null-data
  --posix --debug`;

/** One command that neither runs a program nor reads or writes another file. */
export function isSimpleSedScript(script: string): boolean {
  return SIMPLE_SED.test(script);
}

const SED_ADDRESS = String.raw`(?:\d+|\$|\/(?:\\.|[^\/\\\n])*\/)`;
const SIMPLE_SED = new RegExp(
  String.raw`^(?:${SED_ADDRESS}(?:,[+~]?${SED_ADDRESS})?)?!?\s*(?:[pdqQ=nNgGhHxD]|s([\/|#,:@])(?:\\.|(?!\1)[^\\\n])*\1(?:\\[^\n]|(?!\1)[^\\\n])*\1[gpiI0-9]*)$`,
);

/** Variables for all that is run afterwards. */
function runByExport({ words, open }: KnownCommand): InnerCommands {
  return words.slice(1).every(isHarmlessAssignment) && !open ? RUNS_NOTHING : NOT_UNDERSTOOD;
}

function runByCommandBuiltin(command: KnownCommand): InnerCommands {
  const says = /^-[pvV]*[vV]/.test(command.words[1] ?? "");
  return says ? RUNS_NOTHING : runByWrapper(command, WRAPPERS["command"] ?? "");
}

/** `npm exec program`, `npm test`: scripts of the project, known to it alone. */
function runByPackageManager({ words, open }: KnownCommand): InnerCommands {
  const [, action = "-", name = "-"] = words;
  if (/^(?:exec|x|dlx)$/.test(action)) {
    const inner = runByWrapper({ words: words.slice(1), open }, WRAPPERS["npx"] ?? "");
    return { ...NOT_UNDERSTOOD, commands: inner.commands };
  }
  if (/^(?:test|t|start|stop|restart)$/.test(action)) return { ...ANYTHING, runArguments: [1] };
  const isScript = /^(?:run|run-script)$/.test(action) && !name.startsWith("-");
  return isScript ? { ...ANYTHING, runArguments: [1, 2] } : ANYTHING;
}

type Handler = (command: KnownCommand) => InnerCommands;

const HANDLERS: ReadonlyMap<string, Handler> = new Map(
  (
    [
      ["sh bash dash ash zsh ksh mksh rbash yash", runByShell],
      ["python pypy node nodejs deno bun ruby perl php lua tsx", runByInterpreter],
      ["npm pnpm yarn", runByPackageManager],
      ["find gfind", runByFind],
      ["fd fdfind", runByFd],
      ["awk gawk mawk nawk original-awk", runByAwk],
      ["sed gsed", runBySed],
      ["export declare typeset", runByExport],
      ["git", runByGit],
      ["su", runBySu],
      ["runuser", runByRunuser],
      ["printf", () => RUNS_NOTHING],
      ["command", runByCommandBuiltin],
      [
        // Words put together and read once more.
        "eval",
        ({ words, open }) =>
          runByScript(words.slice(1).join(" "), indexes(1, words.length), {
            opaque: open,
            by_nature: true,
          }),
      ],
      ["trap", ({ words, open }) => runByScript(words[1], [1], { opaque: open, by_nature: true })],
    ] satisfies [string, Handler][]
  ).flatMap(([names, handler]) => names.split(" ").map((name) => [name, handler])),
);
