// Programs that run the command given in their arguments, and how their own options are distinguished from it. An option that is not
// listed makes the whole command opaque. Programs that do work of their own and run another one when an option says so are
// in a second table: `tar --to-command`, `sort --compress-program`.

import type { InnerCommands, KnownCommand } from "./known-command.ts";
import {
  indexes,
  isAssignment,
  isHarmlessAssignment,
  NOT_UNDERSTOOD,
  runs,
  RUNS_NOTHING,
} from "./known-command.ts";
import { optionTable, possibleOptions, readArguments } from "./options.ts";
import { readShellScript, type ScriptCommands } from "./shell-script.ts";

export function runByWrapper({ words, open }: KnownCommand, row: string): InnerCommands {
  const table = optionTable(row);
  const { marks } = table;
  const read = readArguments(table, words, { from: 1, stops: true });
  if (typeof read === "string") return NOT_UNDERSTOOD;
  const byKind = (kind: string) => read.options.filter((option) => option.kind === kind);
  const scripts = byKind("script").map(({ value = "" }) =>
    marks.has("assignments") ? splitByEnv(value) : readShellScript(value),
  );
  const usesShell = byKind("shell").length > 0;
  let opaque = marks.has("opaque") || scripts.some((script) => script.opaque);
  const commands = scripts.flatMap((script) => script.commands);
  const runArguments = byKind("script").map(({ end }) => end);
  const operands = Number(marks.get("operands") ?? 0);
  let at = read.at + operands;
  // `flock file -c script`
  if (operands > 0 && words[at] === "-c" && table.options.get("-c")?.kind === "script") {
    const script = readShellScript(words[at + 1] ?? "");
    return runs(script.commands, indexes(at, words.length), { opaque: script.opaque || open });
  }
  for (; marks.has("assignments") && isAssignment(words[at] ?? ""); at += 1) {
    runArguments.push(at);
    if (!isHarmlessAssignment(words[at] ?? "")) opaque = true;
  }
  const rest = words.slice(at);
  runArguments.push(...indexes(at, words.length));
  if (rest.length === 0) {
    const startsShell = usesShell || (marks.has("shell") && scripts.length === 0);
    if (!opaque && !open && !startsShell && runArguments.length === 0) return RUNS_NOTHING;
    return runs(commands, runArguments, { opaque: opaque || open || startsShell });
  }
  if (scripts.length > 0) {
    // `env -S git push`: the rest belongs to the script, which is split by rules of its own.
    opaque = true;
    commands.push({ words: [...(commands.pop()?.words ?? []), ...rest], open: true });
  } else if (marks.has("joins") || usesShell) {
    const script = readShellScript(rest.join(" "));
    commands.push(...script.commands);
    opaque ||= script.opaque || open;
  } else {
    // A text that is replaced by arguments of the command.
    const replaced = byKind("replaced").at(-1);
    const known = rest.findIndex(
      (word) => replaced !== undefined && word.includes(replaced.value || "{}"),
    );
    const isCut = known !== -1;
    const isOpen = open || isCut || marks.has("appends");
    commands.push({ words: isCut ? rest.slice(0, known) : rest, open: isOpen });
  }
  return runs(commands, runArguments, { opaque });
}

/** `env -S "-C src make"`: the words may begin with options of its own. */
function splitByEnv(value: string): ScriptCommands {
  const { commands, opaque } = readShellScript(value.replaceAll(/\\[_fnrtv]/g, " "));
  const isOwn = ({ words }: KnownCommand): boolean => words[0]?.startsWith("-") === true;
  return {
    commands: commands.map((one) =>
      isOwn(one) ? { words: ["env", ...one.words], open: one.open } : one,
    ),
    opaque,
  };
}

const PACKAGE_RUNNER =
  "-yq -p|--package=value --yes|--no|--quiet|--silent|--ignore-existing?value -c|--call=script @opaque";

/**
 * `@operands`: so many words before the command. `@assignments`: variables before it. `@joins`: its words are put together and
 * read by a shell. `@appends`: further arguments are added. `@shell`: without a command it starts a shell. `@opaque`: more is run
 * than the command.
 */
export const WRAPPERS: Readonly<Record<string, string>> = {
  env: `-i0v -uC|--unset|--chdir=value -S|--split-string=script @assignments --ignore-environment|--null|--debug|--block-signal?value
    --default-signal|--ignore-signal|--list-signal-handling?value`,
  timeout: `-vfp --verbose|--foreground|--preserve-status?value -ks|--kill-after|--signal=value @operands=1`,
  nohup: "",
  setsid: "-cfw --ctty|--fork|--wait?value",
  nice: "-n|--adjustment=value @numeric=signed",
  ionice: "-t --ignore?value -cn|--class|--classdata=value",
  chrt: `-abdefimorRv -TPD=value @operands=1 --batch|--deadline|--fifo|--idle|--other|--rr|--all-tasks|--reset-on-fork?value
    --verbose?value`,
  taskset: "-ac --all-tasks|--cpu-list?value @operands=1",
  stdbuf: "-ioe|--input|--output|--error=value",
  time: "-apqvV --append|--portability|--quiet|--verbose?value -fo|--format|--output=value",
  sudo: `-AbBEHkKnNPSv -CDghpRrTtuU=value -si|--shell|--login!shell @assignments --askpass|--background|--bell|--preserve-env?value
    --set-home|--non-interactive|--preserve-groups|--stdin|--reset-timestamp?value --close-from|--chdir|--group|--host=value
    --prompt|--chroot|--role|--type|--command-timeout|--user|--other-user=value`,
  doas: "-nL -uC=value -s!shell",
  pkexec: "--user=value --disable-internal-agent|--keep-cwd?value",
  chroot: "--skip-chdir?value --userspec|--groups=value @operands=1 @shell",
  unshare: `-muinpUCTfrc -SGRwl=value @shell --mount|--uts|--ipc|--net|--pid|--user|--cgroup|--time|--fork|--map-root-user?value
    --map-current-user|--map-auto|--keep-caps|--kill-child|--mount-proc?value --map-user|--map-group|--map-users=value
    --map-groups|--propagation|--setgroups|--setuid|--setgid|--root|--wd|--monotonic|--boottime=value`,
  nsenter: `-aFZe -tSGN=value -muinpCUTrwW?value @shell --all|--no-fork|--follow-context|--preserve-credentials|--mount|--uts?value
    --ipc|--net|--pid|--cgroup|--user|--time|--root|--wd|--wdns?value --target|--setuid|--setgid=value`,
  setpriv: `--clear-groups|--keep-groups|--init-groups|--no-new-privs|--reset-env|--list-caps?value --reuid|--regid|--ruid=value
    --euid|--rgid|--egid|--groups|--inh-caps|--ambient-caps|--bounding-set|--securebits|--pdeathsig=value`,
  prlimit: `-cdefilmnqrstuvxy?value --core|--data|--nice|--fsize|--sigpending|--memlock|--rss|--nofile|--msgqueue|--rtprio?value
    --rttime|--stack|--cpu|--nproc|--as|--locks|--noheadings|--raw|--verbose?value`,
  strace: "-cCdDfFhiknqrtTvVwxyYzZ -abeEIOpPsSuUX=value --follow-forks?value",
  ltrace: "-cCfhiLrStTVb -aAeFlnopsuwx=value",
  watch: `-bcdegptwCr -nq|--interval|--equexit=value @joins --beep|--color|--differences|--errexit|--chgexit|--no-title?value
    --precise|--no-wrap?value`,
  script: `-aefqV -EIOBTmo=value -c|--command=script @operands=1 @shell --append|--return|--flush|--force|--quiet?value
    --echo|--log-in|--log-out|--log-io|--log-timing|--logging-format|--output-limit=value`,
  flock: `-esxnuoFv -wE=value -c|--command=script @operands=1 --timeout|--wait|--conflict-exit-code=value
    --exclusive|--shared|--nonblock|--unlock|--close|--no-fork|--verbose?value`,
  xargs: `-0oprtx -adELnPs=value -I=replaced -i|--replace?replaced -el?value @appends --null|--open-tty|--interactive?value
    --no-run-if-empty|--verbose|--exit|--eof|--max-lines?value --arg-file|--delimiter|--max-args|--max-procs|--max-chars=value
    --process-slot-var=value`,
  parallel: `-0kqtXmvu -jnNLSaC=value @joins @appends @opaque --keep-order|--null|--verbose|--dry-run|--bar?value
    --jobs|--j|--max-args|--arg-file|--joblog|--timeout|--retries|--delay|--halt=value`,
  numactl: `-NmiplC?value --all|--localalloc?value --cpunodebind|--membind|--interleave|--preferred|--physcpubind=value`,
  caffeinate: "-disum -tw=value",
  unbuffer: "-p",
  fakeroot: "-u -lsib=value",
  "dbus-run-session": "",
  catchsegv: "",
  command: "-p",
  exec: "-cl -a=value",
  builtin: "",
  npx: PACKAGE_RUNNER,
  bunx: PACKAGE_RUNNER,
  pnpx: PACKAGE_RUNNER,
  uvx: "@opaque",
  "ld.so": `--list|--verify|--inhibit-cache?value
    --library-path|--inhibit-rpath|--audit|--preload|--argv0|--glibc-hwcaps-prepend=value`,
};

/**
 * What the options of `command` from the word `from` on run. Kinds: `script`, a shell script or list of words, `exec`, one behind
 * `exec=`; with any other it is not known what runs.
 */
export function runByOptions(
  { words, open }: KnownCommand,
  from: number,
  row: string,
): InnerCommands {
  const commands: KnownCommand[] = [];
  const runArguments: number[] = [];
  let opaque = open;
  // Behind `--`, too: it may be the value of the option before it.
  for (const at of indexes(from, words.length)) {
    for (const option of possibleOptions(optionTable(row), words[at] ?? "")) {
      const { attached, kind, value: takes, isDoubtful } = option;
      const takesNext = attached === undefined && takes === "next";
      const value = attached ?? (takesNext ? words[at + 1] : undefined) ?? "";
      if (kind === "exec" && !value.startsWith("exec=")) continue;
      runArguments.push(at, ...(takesNext ? [at + 1] : []));
      const isScript = kind === "script" || kind === "exec";
      if (isDoubtful || !isScript) opaque = true;
      if (!isScript) continue;
      const script = readShellScript(kind === "exec" ? value.slice("exec=".length) : value);
      commands.push(...script.commands);
      opaque ||= script.opaque || script.commands.length === 0;
    }
  }
  if (runArguments.length === 0) return open ? { ...RUNS_NOTHING, opaque } : RUNS_NOTHING;
  // What it runs is given further arguments.
  return runs(
    commands.map((one) => ({ words: one.words, open: true })),
    runArguments,
    { opaque },
  );
}

export const OPTIONS_THAT_RUN: Readonly<Record<string, string>> = {
  tar: `--to-command|--new-volume-script|--rsh-command|--rmt-command=script --checkpoint-action=exec
    -I|--use-compress-program=script -F|--info-script=script`,
  split: "--filter=script",
  sort: "--compress-program=script",
  rsync: "-e|--rsh=script --rsync-path=script",
  rg: "--pre|--hostname-bin=script",
  zip: "--unzip-command=script -T=unknown",
  install: "--strip-program=script",
};
