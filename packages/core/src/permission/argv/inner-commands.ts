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
  indexes,
  isHarmlessAssignment,
  mergeInner,
  NOT_UNDERSTOOD,
  RUNS_NOTHING,
} from "./known-command.ts";
import { OPTIONS_THAT_RUN, runByOptions } from "./options-that-run.ts";
import {
  isOfTheSystem,
  isPlainProgram,
  MULTI_CALL,
  namesOfProgram,
  programName,
} from "./plain-programs.ts";
import { readShellScript } from "./shell-script.ts";
import { runByWrapper, WRAPPERS } from "./wrappers.ts";

/** Of a command and of all commands inside it, those inside those, and so on. */
export function innerCommands(argv: readonly string[], executable: string): InnerCommands {
  const outer = { words: argv, open: false };
  const names = namesOfProgram(argv[0] ?? "", executable);
  const isKnown = isOfTheSystem(argv[0] ?? "") && isOfTheSystem(executable);
  // `sh` that is dash: two names, and mostly the same is known of both.
  const byText = new Map(
    names.map((name) => runByName(name, outer)).map((one) => [JSON.stringify(one), one]),
  );
  const named = [...byText.values()];
  const first = mergeInner(isKnown ? named : [...named, ANYTHING]);
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

/** Nothing is known of the program. Whoever allows it by its name allows what it does. */
const ANYTHING: InnerCommands = Object.freeze({
  commands: [],
  opaque: true,
  told: "all",
  by_nature: true,
});

function runByKnownName(name: string, command: KnownCommand): InnerCommands | undefined {
  if (MULTI_CALL.has(name)) return runByMultiCall(command);
  if (/^ld-(?:linux|musl)/.test(name)) return runByWrapper(command, WRAPPERS["ld.so"] ?? {});
  if (Object.hasOwn(HANDLERS, name)) return HANDLERS[name]?.(command);
  if (Object.hasOwn(WRAPPERS, name)) return runByWrapper(command, WRAPPERS[name] ?? {});
  if (Object.hasOwn(OPTIONS_THAT_RUN, name)) {
    return runByOptions(command, 1, OPTIONS_THAT_RUN[name] ?? []);
  }
  return undefined;
}

function runByMultiCall({ words, open }: KnownCommand): InnerCommands {
  const rest = words.slice(1);
  if (rest.length === 0) return open ? NOT_UNDERSTOOD : RUNS_NOTHING;
  const told = indexes(1, words.length);
  return { commands: [{ words: rest, open }], opaque: false, told, by_nature: false };
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
  if (!hasScript) {
    // A file of commands, or whatever is on standard input.
    const told = operand !== undefined && at === 1 ? [1] : ("all" as const);
    return { commands: [], opaque: true, told, by_nature: true };
  }
  const script = readShellScript(operand ?? "");
  return {
    commands: script.commands,
    opaque: opaque || script.opaque,
    told: indexes(1, at + 1),
    by_nature: true,
  };
}

const ORDINARY_BASH_OPTIONS = /^(?:dotglob|extglob|failglob|globstar|lastpipe|nullglob)$/;

/** A language that can run anything: what it is given to read is no command of ours. */
function runByInterpreter({ words }: KnownCommand): InnerCommands {
  const file = words[1] ?? "-";
  return { ...ANYTHING, told: file.startsWith("-") ? "all" : [1] };
}

function runByFind({ words, open }: KnownCommand): InnerCommands {
  const commands: KnownCommand[] = [];
  const told: number[] = [];
  let opaque = open;
  for (let at = 1; at < words.length; at += 1) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(words[at] ?? "")) continue;
    const end = words.findIndex((word, index) => index > at && endsExec(words, word, index));
    // A shell may have been meant to take the backslash away.
    const until = end === -1 ? words.length : end;
    if (end === -1) opaque = true;
    const given = words.slice(at + 1, until);
    const place = given.findIndex((word) => word.includes("{}"));
    commands.push({ words: place === -1 ? given : given.slice(0, place), open: place !== -1 });
    told.push(...indexes(at, until + 1));
    at = until;
  }
  return told.length === 0 && !opaque ? RUNS_NOTHING : { commands, opaque, told, by_nature: false };
}

/** A plus ends it only behind the names: elsewhere it is an argument. */
function endsExec(words: readonly string[], word: string, index: number): boolean {
  return word === ";" || (word === "+" && words[index - 1] === "{}");
}

/** `fd -x program …`: the rest of the words, up to a semicolon. */
function runByFd({ words, open }: KnownCommand): InnerCommands {
  const place = words.findIndex((word) =>
    /^(?:-[a-zA-Z]*[xX]|--exec(?:-batch)?(?:=.*)?)$/.test(word),
  );
  if (place === -1) return open ? NOT_UNDERSTOOD : RUNS_NOTHING;
  const told = indexes(place, words.length);
  const rest = words.slice(place + 1);
  const cut = rest.findIndex((word) => word.includes("{") || word === ";");
  const known = cut === -1 ? rest : rest.slice(0, cut);
  const isDoubtful = !/^(?:-[xX]|--exec(?:-batch)?)$/.test(words[place] ?? "") || cut !== -1;
  return { commands: [{ words: known, open: true }], opaque: isDoubtful, told, by_nature: false };
}

/** `su user -c script`: options stand anywhere. */
function runBySu(command: KnownCommand): InnerCommands {
  const options = [
    { long: "command", short: "c", value: "script" },
    { long: "session-command", value: "script" },
  ] as const;
  const found = runByOptions(command, 1, options);
  // Without one a shell is started.
  return found.commands.length > 0 ? found : NOT_UNDERSTOOD;
}

function runByRunuser(command: KnownCommand): InnerCommands {
  const usesUser = command.words.some((word) => /^(?:-u.*|--user(?:=.*)?)$/.test(word));
  if (!usesUser) return runBySu(command);
  return runByWrapper(command, { values: "ugG", longValues: "user group supp-group" });
}

/** The program text is run by awk itself, unless it says system or pipes. */
function runByAwk({ words, open }: KnownCommand): InnerCommands {
  if (open) return NOT_UNDERSTOOD;
  let at = 1;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--") {
      at += 1;
      break;
    }
    if (!word.startsWith("-") || word === "-") break;
    if (!/^-[Fv]/.test(word)) return NOT_UNDERSTOOD;
    if (word.length === 2) at += 1;
  }
  const program = (words[at] ?? "").replaceAll("||", "");
  return /system|\||@/.test(program)
    ? { commands: [], opaque: true, told: [at], by_nature: false }
    : RUNS_NOTHING;
}

/** GNU sed runs what its `e` says: only scripts that plainly have none are taken. */
function runBySed({ words, open }: KnownCommand): InnerCommands {
  const scripts: string[] = [];
  let isKnown = !open;
  let at = 1;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!word.startsWith("-") || word === "-") break;
    const [, attached] = /^(?:-[nErsuz]*e|--expression=)(.*)$/s.exec(word) ?? [];
    if (attached !== undefined) {
      scripts.push(attached === "" ? (words[at + 1] ?? "") : attached);
      if (attached === "") at += 1;
    } else if (
      !/^(?:-[nErsuz]+|-[nErsuz]*i[.A-Za-z]*|--(?:quiet|silent|regexp-extended|in-place|separate|null-data|posix|debug))$/.test(
        word,
      )
    ) {
      isKnown = false;
    }
  }
  if (scripts.length === 0) scripts.push(words[at] ?? "");
  // GNU programs take options behind operands, too.
  if (words.slice(at).some((word) => /^-./.test(word))) isKnown = false;
  if (isKnown && scripts.every(isSimpleSedScript)) return RUNS_NOTHING;
  return { commands: [], opaque: true, told: indexes(1, words.length), by_nature: false };
}

/** One command that neither runs a program nor reads or writes another file. */
export function isSimpleSedScript(script: string): boolean {
  return SIMPLE_SED.test(script);
}

const SED_ADDRESS = String.raw`(?:\d+|\$|\/(?:\\.|[^\/\\\n])*\/)`;
const SIMPLE_SED = new RegExp(
  String.raw`^(?:${SED_ADDRESS}(?:,[+~]?${SED_ADDRESS})?)?!?\s*(?:[pdqQ=nNgGhHxD]|s([\/|#,:@])(?:\\.|(?!\1)[^\\\n])*\1(?:\\[^\n]|(?!\1)[^\\\n])*\1[gpiI0-9]*)$`,
);

/** Words put together and read once more. */
function runByEval({ words, open }: KnownCommand): InnerCommands {
  const { commands, opaque } = readShellScript(words.slice(1).join(" "));
  return { commands, opaque: opaque || open, told: indexes(1, words.length), by_nature: true };
}

function runByTrap({ words, open }: KnownCommand): InnerCommands {
  const { commands, opaque } = readShellScript(words[1] ?? "");
  return { commands, opaque: opaque || open, told: [1], by_nature: true };
}

/** Variables for whatever is run afterwards. */
function runByExport({ words, open }: KnownCommand): InnerCommands {
  const isHarmless = words.slice(1).every(isHarmlessAssignment);
  return isHarmless && !open ? RUNS_NOTHING : NOT_UNDERSTOOD;
}

function runByCommandBuiltin(command: KnownCommand): InnerCommands {
  const says = /^-[pvV]*[vV]/.test(command.words[1] ?? "");
  return says ? RUNS_NOTHING : runByWrapper(command, WRAPPERS["command"] ?? {});
}

/** `npm exec program`, `npm test`: scripts of the project, known to it alone. */
function runByPackageManager(command: KnownCommand): InnerCommands {
  const { words, open } = command;
  const [, action = "-", name = "-"] = words;
  if (/^(?:exec|x|dlx)$/.test(action)) {
    const inner = runByWrapper({ words: words.slice(1), open }, WRAPPERS["npx"] ?? {});
    return { ...inner, opaque: true, told: "all", by_nature: false };
  }
  if (/^(?:test|t|start|stop|restart)$/.test(action)) return { ...ANYTHING, told: [1] };
  const isScript = /^(?:run|run-script)$/.test(action) && !name.startsWith("-");
  return isScript ? { ...ANYTHING, told: [1, 2] } : ANYTHING;
}

type Handler = (command: KnownCommand) => InnerCommands;

const HANDLERS: Readonly<Record<string, Handler>> = {
  ...byNames("sh bash dash ash zsh ksh mksh rbash yash", runByShell),
  ...byNames("python pypy node nodejs deno bun ruby perl php lua tsx", runByInterpreter),
  ...byNames("npm pnpm yarn", runByPackageManager),
  ...byNames("find gfind", runByFind),
  ...byNames("fd fdfind", runByFd),
  ...byNames("awk gawk mawk nawk original-awk", runByAwk),
  ...byNames("sed gsed", runBySed),
  ...byNames("export declare typeset", runByExport),
  git: runByGit,
  su: runBySu,
  runuser: runByRunuser,
  eval: runByEval,
  trap: runByTrap,
  printf: () => RUNS_NOTHING,
  command: runByCommandBuiltin,
};

function byNames(names: string, handler: Handler): Record<string, Handler> {
  return Object.fromEntries(names.split(" ").map((name) => [name, handler]));
}
