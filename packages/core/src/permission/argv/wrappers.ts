// Programs that run the command given in their arguments, and how their own options are told from it.
// An option that is not listed makes the whole command opaque.

import type { InnerCommands, KnownCommand } from "./known-command.ts";
import {
  assignedName,
  indexes,
  isHarmlessAssignment,
  NOT_UNDERSTOOD,
  RUNS_NOTHING,
} from "./known-command.ts";
import { readShellScript } from "./shell-script.ts";

export interface Wrapper {
  /** Letters: without a value; with one; with one that is always attached. */
  readonly flags?: string;
  readonly values?: string;
  readonly attached?: string;
  /** The same as words, separated by spaces. `--word=value` is taken for any of them. */
  readonly long?: string;
  readonly longValues?: string;
  /** Options whose value is a script: letters and words. */
  readonly scripts?: string;
  /** Options that hand the rest to a shell. */
  readonly shell?: string;
  /** Options whose value is a text that stands for arguments of the command. */
  readonly replaces?: string;
  /** `-5` is an option. */
  readonly numeric?: boolean;
  /** How many words stand before the command. */
  readonly operands?: number;
  /** `NAME=value` before the command sets variables. */
  readonly assignments?: boolean;
  /** The words of the command are put together and read by a shell. */
  readonly joins?: boolean;
  /** Further arguments are added to the command. */
  readonly appends?: boolean;
  /** Without a command it starts a shell. */
  readonly alone?: "shell";
  /** More is run than the command: packages, servers. */
  readonly opaque?: boolean;
}

export function runByWrapper(command: KnownCommand, wrapper: Wrapper): InnerCommands {
  const { words, open } = command;
  const read = readOptions(words, wrapper);
  if (read === undefined) return NOT_UNDERSTOOD;
  let { at } = read;
  let opaque = wrapper.opaque === true || read.scripts.some((script) => script.opaque);
  const commands = read.scripts.flatMap((script) => script.commands);
  const told = [...read.told];
  at += wrapper.operands ?? 0;
  // `flock file -c script`
  if (
    wrapper.scripts?.includes("c") === true &&
    (wrapper.operands ?? 0) > 0 &&
    words[at] === "-c"
  ) {
    const script = readShellScript(words[at + 1] ?? "");
    return {
      commands: script.commands,
      opaque: script.opaque || open,
      told: indexes(at, words.length),
      by_nature: false,
    };
  }
  for (; wrapper.assignments === true; at += 1) {
    const word = words[at] ?? "";
    if (assignedName(word) === undefined) break;
    told.push(at);
    if (!isHarmlessAssignment(word)) opaque = true;
  }
  const rest = words.slice(at);
  told.push(...indexes(at, words.length));
  if (rest.length === 0) {
    const startsShell = read.usesShell || (wrapper.alone === "shell" && read.scripts.length === 0);
    if (!opaque && !open && !startsShell && told.length === 0) return RUNS_NOTHING;
    return { commands, opaque: opaque || open || startsShell, told, by_nature: false };
  }
  if (read.scripts.length > 0) {
    // `env -S git push`: the rest belongs to the script, which is split by rules of its own.
    opaque = true;
    commands.push({ words: [...(commands.pop()?.words ?? []), ...rest], open: true });
  } else if (wrapper.joins === true || read.usesShell) {
    const script = readShellScript(rest.join(" "));
    commands.push(...script.commands);
    opaque ||= script.opaque || open;
  } else {
    const { replaced } = read;
    const known = rest.findIndex((word) => replaced !== undefined && word.includes(replaced));
    const isCut = known !== -1;
    commands.push({
      words: isCut ? rest.slice(0, known) : rest,
      open: open || isCut || wrapper.appends === true,
    });
  }
  return { commands, opaque, told, by_nature: false };
}

interface ReadOptions {
  readonly at: number;
  readonly scripts: readonly ReturnType<typeof readShellScript>[];
  /** The words that hold scripts. */
  readonly told: readonly number[];
  readonly usesShell: boolean;
  readonly replaced: string | undefined;
}

/** `env -S "-C src make"`: the words may begin with options of its own. */
function splitByEnv(value = ""): ReturnType<typeof readShellScript> {
  const { commands, opaque } = readShellScript(value.replaceAll(/\\[_fnrtv]/g, " "));
  const isOwn = ({ words }: KnownCommand): boolean => words[0]?.startsWith("-") === true;
  return {
    commands: commands.map((one) =>
      isOwn(one) ? { words: ["env", ...one.words], open: one.open } : one,
    ),
    opaque,
  };
}

/** Where the options end; undefined when one of them is not known. */
function readOptions(words: readonly string[], wrapper: Wrapper): ReadOptions | undefined {
  const scripts: ReturnType<typeof readShellScript>[] = [];
  const told: number[] = [];
  let usesShell = false;
  let replaced: string | undefined;
  const note = (name: string, value: string | undefined, at: number): void => {
    if (hasWord(wrapper.scripts, name)) {
      scripts.push(wrapper.assignments === true ? splitByEnv(value) : readShellScript(value ?? ""));
      told.push(at);
    }
    if (hasWord(wrapper.shell, name)) usesShell = true;
    if (hasWord(wrapper.replaces, name))
      replaced = value === undefined || value === "" ? "{}" : value;
  };
  let at = 1;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--") {
      at += 1;
      break;
    }
    // To `env` a lone dash says that the environment is empty.
    if (word === "-" && wrapper.assignments === true) continue;
    if (!word.startsWith("-") || word === "-") break;
    if (wrapper.numeric === true && /^-[-+]?\d+$/.test(word)) continue;
    const found = word.startsWith("--")
      ? readLong(word, words[at + 1], wrapper)
      : readShort(word, words[at + 1], wrapper);
    if (found === undefined) return undefined;
    for (const { name, value } of found.options) note(name, value, found.tookNext ? at + 1 : at);
    if (found.tookNext) at += 1;
  }
  return { at, scripts, told, usesShell, replaced };
}

interface FoundOptions {
  readonly options: readonly { readonly name: string; readonly value: string | undefined }[];
  readonly tookNext: boolean;
}

function readLong(
  word: string,
  next: string | undefined,
  wrapper: Wrapper,
): FoundOptions | undefined {
  const [, given = "", value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
  const candidates = (list: string | undefined): string[] =>
    wordsOf(list).filter((name) => name.length > 1 && name.startsWith(given));
  const withValue = [...candidates(wrapper.longValues), ...candidates(wrapper.scripts)];
  const without = [...candidates(wrapper.long), ...candidates(wrapper.shell)];
  const all = [...withValue, ...without];
  const name = all.includes(given) ? given : all[0];
  if (name === undefined || given === "") return undefined;
  // A beginning that could be either cannot be read.
  if (name !== given && withValue.length > 0 && without.length > 0) return undefined;
  if (value !== undefined) return { options: [{ name, value }], tookNext: false };
  const tookNext = withValue.includes(name);
  return { options: [{ name, value: tookNext ? next : undefined }], tookNext };
}

function readShort(
  word: string,
  next: string | undefined,
  wrapper: Wrapper,
): FoundOptions | undefined {
  const options: { name: string; value: string | undefined }[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const letter = word.charAt(at);
    const rest = word.slice(at + 1);
    if (wrapper.attached?.includes(letter) === true) {
      return { options: [...options, { name: letter, value: rest }], tookNext: false };
    }
    if (wrapper.values?.includes(letter) === true || hasWord(wrapper.scripts, letter)) {
      const value = rest === "" ? next : rest;
      return { options: [...options, { name: letter, value }], tookNext: rest === "" };
    }
    const isFlag = wrapper.flags?.includes(letter) === true || hasWord(wrapper.shell, letter);
    if (!isFlag) return undefined;
    options.push({ name: letter, value: undefined });
  }
  return { options, tookNext: false };
}

function wordsOf(list: string | undefined): string[] {
  return list === undefined ? [] : list.split(/\s+/);
}

function hasWord(list: string | undefined, word: string): boolean {
  return wordsOf(list).includes(word);
}

const PACKAGE_RUNNER: Wrapper = {
  flags: "yq",
  values: "p",
  long: "yes no quiet silent ignore-existing",
  longValues: "package",
  scripts: "c call",
  opaque: true,
};

export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  env: {
    flags: "i0v",
    values: "uC",
    long: "ignore-environment null debug block-signal default-signal ignore-signal list-signal-handling",
    longValues: "unset chdir",
    scripts: "S split-string",
    assignments: true,
  },
  timeout: {
    flags: "vfp",
    values: "ks",
    long: "verbose foreground preserve-status",
    longValues: "kill-after signal",
    operands: 1,
  },
  nohup: {},
  setsid: { flags: "cfw", long: "ctty fork wait" },
  nice: { values: "n", longValues: "adjustment", numeric: true },
  ionice: { flags: "t", values: "cn", long: "ignore", longValues: "class classdata" },
  chrt: {
    flags: "abdefimorRv",
    values: "TPD",
    long: "batch deadline fifo idle other rr all-tasks reset-on-fork verbose",
    operands: 1,
  },
  taskset: { flags: "ac", long: "all-tasks cpu-list", operands: 1 },
  stdbuf: { values: "ioe", longValues: "input output error" },
  time: {
    flags: "apqvV",
    values: "fo",
    long: "append portability quiet verbose",
    longValues: "format output",
  },
  sudo: {
    flags: "AbBEHkKnNPSv",
    values: "CDghpRrTtuU",
    long: "askpass background bell preserve-env set-home non-interactive preserve-groups stdin reset-timestamp",
    longValues:
      "close-from chdir group host prompt chroot role type command-timeout user other-user",
    shell: "s i shell login",
    assignments: true,
  },
  doas: { flags: "nL", values: "uC", shell: "s" },
  pkexec: { longValues: "user", long: "disable-internal-agent keep-cwd" },
  chroot: { long: "skip-chdir", longValues: "userspec groups", operands: 1, alone: "shell" },
  unshare: {
    flags: "muinpUCTfrc",
    values: "SGRwl",
    long: `mount uts ipc net pid user cgroup time fork map-root-user map-current-user map-auto keep-caps
      kill-child mount-proc`,
    longValues: `map-user map-group map-users map-groups propagation setgroups setuid setgid root wd
      monotonic boottime`,
    alone: "shell",
  },
  nsenter: {
    flags: "aFZe",
    values: "tSGN",
    attached: "muinpCUTrwW",
    long: "all no-fork follow-context preserve-credentials mount uts ipc net pid cgroup user time root wd wdns",
    longValues: "target setuid setgid",
    alone: "shell",
  },
  setpriv: {
    long: "clear-groups keep-groups init-groups no-new-privs reset-env list-caps",
    longValues:
      "reuid regid ruid euid rgid egid groups inh-caps ambient-caps bounding-set securebits pdeathsig",
  },
  prlimit: {
    attached: "cdefilmnqrstuvxy",
    long: `core data nice fsize sigpending memlock rss nofile msgqueue rtprio rttime stack cpu nproc as
      locks noheadings raw verbose`,
  },
  strace: {
    flags: "cCdDfFhiknqrtTvVwxyYzZ",
    values: "abeEIOpPsSuUX",
    long: "follow-forks",
  },
  ltrace: { flags: "cCfhiLrStTVb", values: "aAeFlnopsuwx" },
  watch: {
    flags: "bcdegptwCr",
    values: "nq",
    long: "beep color differences errexit chgexit no-title precise no-wrap",
    longValues: "interval equexit",
    joins: true,
  },
  script: {
    flags: "aefqV",
    values: "EIOBTmo",
    long: "append return flush force quiet",
    longValues: "echo log-in log-out log-io log-timing logging-format output-limit",
    scripts: "c command",
    operands: 1,
    alone: "shell",
  },
  flock: {
    flags: "esxnuoFv",
    values: "wE",
    long: "exclusive shared nonblock unlock close no-fork verbose",
    longValues: "timeout wait conflict-exit-code",
    scripts: "c command",
    operands: 1,
  },
  xargs: {
    flags: "0oprtx",
    values: "adEILnPs",
    attached: "eil",
    long: "null open-tty interactive no-run-if-empty verbose exit eof replace max-lines",
    longValues: "arg-file delimiter max-args max-procs max-chars process-slot-var",
    replaces: "I i replace",
    appends: true,
  },
  parallel: {
    flags: "0kqtXmvu",
    values: "jnNLSaC",
    long: "keep-order null verbose dry-run bar",
    longValues: "jobs max-args arg-file joblog timeout retries delay halt",
    joins: true,
    appends: true,
    opaque: true,
  },
  numactl: {
    attached: "NmiplC",
    long: "all localalloc",
    longValues: "cpunodebind membind interleave preferred physcpubind",
  },
  caffeinate: { flags: "disum", values: "tw" },
  unbuffer: { flags: "p" },
  fakeroot: { values: "lsib", flags: "u" },
  "dbus-run-session": {},
  catchsegv: {},
  command: { flags: "p" },
  exec: { flags: "cl", values: "a" },
  builtin: {},
  npx: PACKAGE_RUNNER,
  bunx: PACKAGE_RUNNER,
  pnpx: PACKAGE_RUNNER,
  uvx: { opaque: true },
  "ld.so": {
    long: "list verify inhibit-cache",
    longValues: "library-path inhibit-rpath audit preload argv0 glibc-hwcaps-prepend",
  },
};
