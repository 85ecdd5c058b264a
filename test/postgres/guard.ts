// The one process that starts and stops a test's PostgreSQL, in the order it is asked to. When its standard input ends,
// however the test process ended, it stops the server and removes its directory.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { ServerUser } from "./find.ts";

export interface PostgresGuard {
  /** Whether it succeeded; what it printed is in the directory's `log`. */
  run(command: "init" | "start" | "stop fast" | "stop immediate"): Promise<boolean>;
  /** Stops the server and removes the directory. */
  end(): Promise<void>;
}

export function startGuard(place: {
  readonly bin: string;
  /** Has `password` in it; the server's data will be in `data`. */
  readonly folder: string;
  readonly user: ServerUser;
}): PostgresGuard {
  // A session of its own: what ends the test's process group or terminal does not end it. No PG… variables of the caller.
  const child = spawn("/bin/sh", ["-c", 'eval "$SCRIPT"', "postgres-guard"], {
    ...place.user,
    cwd: "/",
    detached: true,
    // The script in the environment keeps lists of processes readable.
    env: { PATH: process.env["PATH"], LC_ALL: "C", BIN: place.bin, FOLDER: place.folder, SCRIPT },
    stdio: ["pipe", "pipe", "ignore"],
  });
  // Rejects where the shell cannot be started.
  const closed = once(child, "close");
  closed.catch(() => {});
  child.stdin.on("error", () => {});
  const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let last: Promise<unknown> = Promise.resolve();

  return {
    run(command) {
      const succeeded = last.then(async () => {
        child.stdin.write(`${command}\n`);
        const reply = (await Promise.race([replies.next(), closed])) as { value?: unknown };
        return reply.value === "done";
      });
      last = succeeded.catch(() => {});
      return succeeded;
    },
    async end() {
      child.stdin.end();
      await closed.catch(() => {});
    },
  };
}

/** A reply may find no reader any more; that must not end it before it has cleaned up. */
const SCRIPT = `
unset SCRIPT
trap '' PIPE
data=$FOLDER/data
perform() {
  case $1 in
    init) "$BIN/initdb" -D "$data" -U soong --pwfile="$FOLDER/password" --auth=scram-sha-256 \
      --encoding=UTF8 --no-locale --no-sync ;;
    start) "$BIN/pg_ctl" start -w -D "$data" -l "$FOLDER/log" ;;
    stop*) "$BIN/pg_ctl" stop -w -D "$data" -m "\${1#stop }" ;;
  esac
}
while IFS= read -r command; do
  if perform "$command" </dev/null >>"$FOLDER/log" 2>&1; then echo done; else echo failed; fi
done
perform 'stop immediate' </dev/null >/dev/null 2>&1
rm -rf "$FOLDER"
`;
