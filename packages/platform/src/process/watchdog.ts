// The watchdog: one small process beside the runtime that ends what is left of its commands when the
// runtime is gone, be it killed, crashed or done (CMD-3). Started with the first command, before it; a
// system where it cannot be started runs no commands at all, because nothing would end them.

import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { ToolFailure } from "@soong/core";
import { commandEnvironment } from "./program.ts";

/**
 * The name every process of a command carries in its environment, by which those are found that left its group and
 * session. A runtime that is itself a command of another one adds to the outer marker instead of replacing it, so
 * that the outer runtime still finds what the inner one started.
 */
export const MARKER_NAME = "SOONG_PROCESS";

/** In the environment of all that this runtime starts: what the watchdog looks for. */
export const RUNTIME_TOKEN = randomBytes(16).toString("hex");

export interface Marker {
  /** The value for the environment. */
  readonly value: string;
  /** What tells this command's processes from all others. */
  readonly bytes: Buffer;
}

let count = 0;

export function nextMarker(): Marker {
  count += 1;
  // Closed by a semicolon, or the first command would claim the processes of the tenth.
  const own = `${RUNTIME_TOKEN}.${count};`;
  return { value: `${process.env[MARKER_NAME] ?? ""}${own}`, bytes: Buffer.from(own) };
}

const SHELL = "/bin/sh";
const SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin";

/** Then only with the next command: where no shell lives long, starting them for ever would not help. */
const MOST_REPLACEMENTS = 20;

const groups = new Set<number>();
let watchdog: ChildProcess | undefined;
let replacements = 0;

export function ensureWatchdog(): void {
  watchdog ??= startWatchdog();
}

export function watchGroup(group: number): void {
  groups.add(group);
  tell(`+${group}\n`);
}

export function unwatchGroup(group: number): void {
  groups.delete(group);
  tell(`-${group}\n`);
}

/** A process group, or session, of a program that runs now. */
export function isWatchedGroup(number: number): boolean {
  return groups.has(number);
}

function tell(line: string): void {
  watchdog?.stdin?.write(line);
}

function startWatchdog(): ChildProcess {
  const child = spawnWatchdog();
  child?.on("error", () => {});
  if (child?.pid === undefined) throw unavailable();
  child.unref();
  child.stdin.on("error", () => {});
  for (const group of groups) child.stdin.write(`+${group}\n`);
  child.once("exit", () => {
    if (watchdog !== child) return;
    watchdog = undefined;
    if (groups.size > 0) replaceWatchdog();
  });
  return child;
}

/** Node throws for some failures; the others show in the missing pid. */
function spawnWatchdog() {
  const half = RUNTIME_TOKEN.length / 2;
  const token = [RUNTIME_TOKEN.slice(0, half), RUNTIME_TOKEN.slice(half)];
  const { PATH = "/bin" } = commandEnvironment({ allowlist: ["PATH"] });
  try {
    // A session of its own, so that a signal to the runtime's group or terminal does not reach it, and
    // no folder, stream or marker of the runtime's that it would hold on to.
    return spawn(SHELL, ["-c", 'eval "$SCRIPT"', "soong-watchdog", ...token], {
      detached: true,
      cwd: "/",
      // The script in the environment keeps lists of processes readable.
      env: { PATH: `${SYSTEM_PATH}:${PATH}`, SCRIPT: WATCHDOG_SCRIPT },
      stdio: ["pipe", "ignore", "ignore"],
    });
  } catch {
    return undefined;
  }
}

function replaceWatchdog(): void {
  replacements += 1;
  if (replacements > MOST_REPLACEMENTS) return;
  try {
    ensureWatchdog();
  } catch {
    // The next command will say so.
  }
}

function unavailable(): ToolFailure {
  return new ToolFailure({
    code: "watchdog_unavailable",
    error_class: "setup_required",
    recovery: "set_up_first",
    message: `No command can be run: ${SHELL} could not be started, and it is needed to end commands when the runtime itself is killed. See that it is there, and that this user may start more processes and open more files.`,
  });
}

/**
 * The watchdog's program, in the shell every POSIX system has: it starts faster and takes far less memory than a
 * second Node would. Where `grep` is missing the shell reads on its own, and where there is no /proc it asks `ps`,
 * which is best effort as in process-table.ts.
 *
 * Arguments: the two halves of the runtime's token. In one piece it would be on the watchdog's own
 * command line, where `ps` shows it beside the environment, and the watchdog would find itself.
 * Standard input: `+N` and `-N`, a process group to end and one that has ended. Its end means that the
 * runtime is gone, however that came about.
 *
 * Rounds are a tenth of a second: asked in the first, woken where stopped and waited for in the next
 * ones, killed from the sixth on, over after the 22nd.
 * Twice in a row no one must be found, because a program that is just being started shows no marker.
 */
export const WATCHDOG_SCRIPT = `
unset SCRIPT
trap '' TERM INT HUP QUIT PIPE TSTP TTIN TTOU USR1 USR2 ALRM
token=$1$2
groups=' '
while IFS= read -r line; do
  number=\${line#?}
  case $line in
    +*) groups="$groups$number " ;;
    -*) case $groups in *" $number "*) groups="\${groups%%" $number "*} \${groups#*" $number "}" ;; esac ;;
  esac
done
exec </dev/null 2>/dev/null

unrelated=' '
look() {
  if [ ! -r /proc/self/environ ]; then
    found=$(ps -axEww -o pid= -o command= | while read -r pid rest; do
      case $rest in *"$token"*) echo "$pid" ;; esac
    done)
  elif command -v grep >/dev/null; then
    found=$(grep -lsF -e "$token" /proc/[0-9]*/environ)
  else
    found=
    for file in /proc/[0-9]*/environ; do
      case $unrelated in *" $file "*) continue ;; esac
      kind=unknown
      while IFS= read -r text || [ "$text" ]; do
        case $text in *"$token"*) kind=ours; break ;; ?*) kind=unrelated ;; esac
      done <"$file"
      case $kind in ours) found="$found $file" ;; unrelated) unrelated="$unrelated$file " ;; esac
    done
  fi
}

strike() {
  struck=1
  for group in $groups; do
    kill -s "$1" -- "-$group" && struck=0
  done
  look
  for file in $found; do
    pid=\${file#/proc/}
    kill -s "$1" "\${pid%/environ}" && struck=0
  done
  return $struck
}

round=0
quiet=0
while [ $round -lt 22 ] && [ $quiet -lt 2 ]; do
  case $round in
    0) strike TERM ;;
    [1-4]) strike CONT ;;
    *) strike KILL ;;
  esac && quiet=0 || quiet=$((quiet + 1))
  round=$((round + 1))
  sleep 0.1
done
`;
