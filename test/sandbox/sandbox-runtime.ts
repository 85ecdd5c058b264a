// A runtime of its own for the tests of the sandbox: lines of JSON come in as commands, and go out with what came of them.

import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { openSandbox, startProcess } from "@soong/platform";
import type { Command } from "./support.ts";

const sandbox = openSandbox();
const aborting = new AbortController();
tell({ key: "state", ...sandbox.state() });

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { id, command, abort } = JSON.parse(line) as {
    id: number;
    command: Command;
    abort?: boolean;
  };
  if (abort === true) aborting.abort();
  else void run(id, command);
});
lines.on("close", () => {
  sandbox.close();
  process.exit(0);
});

async function run(id: number, command: Command): Promise<void> {
  const { argv, cwd = "/", env = {}, profile, stdin, timeoutMs, count = false } = command;
  const counter = createCounter();
  let stdout = "";
  let stderr = "";
  let isHeard = false;
  try {
    const running = startProcess({
      executable: argv[0] ?? "",
      argv,
      cwd,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", ...env },
      onStdout(chunk) {
        if (count) counter.take(chunk);
        else stdout += chunk.toString("latin1");
        if (!isHeard) tell({ key: `started ${id}`, pid: running.pid });
        isHeard = true;
      },
      onStderr(chunk) {
        stderr += chunk.toString("latin1");
      },
      signal: aborting.signal,
      ...(stdin === undefined ? {} : { stdin }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(profile === undefined ? {} : { sandbox: { by: sandbox, profile: profileOf(profile) } }),
    });
    const end = await running.end;
    const refusedHosts = running.refusedHosts();
    tell({ key: `end ${id}`, stdout, stderr, end, refusedHosts, counted: counter.counted() });
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    tell({
      key: `end ${id}`,
      stdout,
      stderr,
      failure,
      refusedHosts: [],
      state: sandbox.state(),
    });
  }
}

function profileOf({
  writable,
  fixed = [],
  masked = [],
  absent = [],
  hosts,
}: NonNullable<Command["profile"]>) {
  return {
    writable,
    fixed,
    masked,
    absent,
    ...(hosts === undefined
      ? {}
      : {
          refuseHost: (host: string) => (hosts.includes(host) ? undefined : "it is not allowed"),
          openHosts: hosts,
        }),
  };
}

function createCounter() {
  const idle = process.memoryUsage.rss();
  const hash = createHash("sha256");
  let bytes = 0;
  let peak = idle;
  return {
    take(chunk: Buffer): void {
      bytes += chunk.length;
      hash.update(chunk);
      peak = Math.max(peak, process.memoryUsage.rss());
    },
    counted: () => ({ bytes, sha256: hash.digest("hex"), grown: peak - idle }),
  };
}

function tell(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
