// CMD-3 in the sandbox: nothing of a command is left when it is over, when it was stopped, or when the runtime was killed.

import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { verifies } from "#laws";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isAlive, until } from "../tools/process-watching.ts";
import { createFolder, needsSandbox, USERS, useRuntimes, type Runtime } from "./support.ts";

const runtimes = useRuntimes();

/** The law's own bound. */
const WITHIN_MS = 3000;

/** Ways to hold out. Each is recognised by its arguments alone, for some have no environment. */
const RESISTING = String.raw`
deaf='$SIG{TERM} = $SIG{HUP} = $SIG{INT} = "IGNORE"; sleep 300'
perl -e 'sleep 300' $1 &
perl -e "$deaf" $1 &
nohup perl -e "$deaf" $1 > /dev/null 2>&1 &
setsid perl -e "$deaf" $1 &
env -i perl -e "$deaf" $1 &
env -i setsid perl -e "$deaf" $1 > /dev/null 2>&1 < /dev/null &
(setsid sh -c 'env -i perl -e "sleep 300" '$1' & exit' &)
perl -e 'use POSIX; for (1, 2) { fork and exit; POSIX::setsid() } POSIX::close($_) for 0 .. 20; sleep 300' $1
perl -e 'kill STOP => $$; sleep 300' $1 &
perl -e '$SIG{TERM} = "IGNORE"; while (1) { fork or do { sleep 1; exit }; select(undef, undef, undef, 0.05); 1 while waitpid(-1, 1) > 0 }' $1 &
echo started
`;

describe.each(USERS)("in the sandbox, as $user, nothing is left", ({ uid }) => {
  let runtime: Runtime;
  let folder: string;
  let mark: string;
  beforeEach(async () => {
    runtime = await runtimes.open(uid);
    folder = createFolder(uid);
    mark = randomUUID();
  });
  afterEach(async () => {
    if (runtime.child.exitCode === null && runtime.child.signalCode === null) await runtime.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function command(then: string, rest: object = {}) {
    return {
      argv: ["/bin/sh", "-c", `${RESISTING}\n${then}`, "sh", mark],
      cwd: folder,
      profile: { writable: [folder] },
      ...rest,
    };
  }

  test("when a command ended on its own", async (context) => {
    verifies("CMD-6", "CMD-3");
    needsSandbox(context, runtime.state);
    const { end } = await runtime.run(command("exit 3"));
    expect(withMark(mark)).toEqual([]);
    expect(end).toMatchObject({ exit_code: 3, ended_by: "exit", survivors: 0 });
  });

  test("when it was aborted", async (context) => {
    verifies("CMD-6", "CMD-3");
    needsSandbox(context, runtime.state);
    const { outcome } = await runtime.start(command("sleep 300"));
    expect(withMark(mark).length).toBeGreaterThanOrEqual(10);
    runtime.abort();
    const { end } = await outcome;
    expect(withMark(mark)).toEqual([]);
    expect(end).toMatchObject({ ended_by: "abort", survivors: 0 });
  });

  test("when its time is up, though it ignores what asks it to end", async (context) => {
    verifies("CMD-6", "CMD-3");
    needsSandbox(context, runtime.state);
    const { end } = await runtime.run(command("trap '' TERM; sleep 300", { timeoutMs: 500 }));
    expect(withMark(mark)).toEqual([]);
    expect(end).toMatchObject({ ended_by: "timeout", survivors: 0 });
  });

  test("when the runtime was killed", async (context) => {
    verifies("CMD-6", "CMD-3");
    needsSandbox(context, runtime.state);
    await runtime.start(command("sleep 300"));
    expect(withMark(mark).length).toBeGreaterThanOrEqual(10);
    runtime.child.kill("SIGKILL");
    expect(await until(() => withMark(mark).length === 0)).toBeLessThan(WITHIN_MS);
  });

  test("when the command ends what it can reach, and itself", async (context) => {
    verifies("CMD-6", "CMD-3");
    needsSandbox(context, runtime.state);
    const { end } = await runtime.run(command("kill -9 1; kill -9 -1"));
    expect(end).toMatchObject({ ended_by: "exit", survivors: 0 });
    expect(withMark(mark)).toEqual([]);
    // The runtime lives, and starts the next one.
    const { stdout } = await runtime.run({
      argv: ["/bin/echo", "next"],
      profile: { writable: [folder] },
    });
    expect(stdout).toBe("next\n");
  });
});

function withMark(mark: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && argumentsOf(pid).includes(mark) && isAlive(pid));
}

function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}
