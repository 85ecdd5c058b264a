// A small process beside the runtime that ends the groups of servers when the runtime is gone, be it
// killed or crashed. A server that ignores the end of its input would live for ever otherwise.

import { spawn, type ChildProcess } from "node:child_process";

/** Standard input: `+N` and `-N`, a group to end and one that has ended. Its end: the runtime is gone. */
const SCRIPT = `
trap '' TERM INT HUP QUIT PIPE TSTP TTIN TTOU
groups=' '
while IFS= read -r line; do
  number=\${line#?}
  case $line in
    +*) groups="$groups$number " ;;
    -*) case $groups in *" $number "*) groups="\${groups%%" $number "*} \${groups#*" $number "}" ;; esac ;;
  esac
done
exec </dev/null >/dev/null 2>&1
strike() {
  left=
  for group in $groups; do kill -s "$1" -- "-$group" && left="$left $group"; done
  groups=$left
  [ -n "$left" ] || exit 0
}
strike TERM
strike CONT
for round in 1 2 3 4 5 6 7 8 9 10; do
  strike 0
  sleep 0.1
done
strike KILL
`;

const groups = new Set<number>();
let watchdog: ChildProcess | undefined;

/** Best effort: without a shell the end of its input is all a server is told. */
export function watchGroup(group: number): void {
  groups.add(group);
  // A new one is told of all groups at its start.
  if (watchdog === undefined) watchdog = startWatchdog();
  else watchdog.stdin?.write(`+${group}\n`);
}

export function unwatchGroup(group: number): void {
  groups.delete(group);
  watchdog?.stdin?.write(`-${group}\n`);
}

function startWatchdog(): ChildProcess | undefined {
  let child: ChildProcess;
  try {
    // A session of its own, so that a signal to the runtime's group or terminal does not reach it.
    child = spawn("/bin/sh", ["-c", SCRIPT, "soong-mcp-watchdog"], {
      detached: true,
      cwd: "/",
      env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
      stdio: ["pipe", "ignore", "ignore"],
    });
  } catch {
    return undefined;
  }
  child.on("error", () => {});
  if (child.pid === undefined) return undefined;
  child.unref();
  child.stdin?.on("error", () => {});
  // Its pipe alone must not keep the runtime alive.
  (child.stdin as { unref?: () => void } | null)?.unref?.();
  for (const group of groups) child.stdin?.write(`+${group}\n`);
  child.once("exit", () => {
    if (watchdog === child) watchdog = undefined;
  });
  return child;
}
