// The last act of the demo: the command is killed in the middle of a tool call, as by a power cut. The session
// opens again, knows what it does not know, and continues; its record is whole.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { capture, CommandFailed, run } from "./command.ts";

const PROGRAM = resolve("packages", "cli", "bin", "soong.cjs");

const FILES = {
  "home/config.toml": `[[permissions.rules]]
tool = "code.run_command"
argv = ["node", "long-job.mjs"]
decision = "allow"
`,
  // Ends when its parent process is gone: nothing of the demo stays behind.
  "project/long-job.mjs": `import { writeFileSync } from "node:fs";
writeFileSync("half-done", "");
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.exit(), 100);
`,
  "before.yaml": `turns:
  - text: This takes a while.
    calls:
      - { tool: code.run_command, input: { argv: [node, long-job.mjs] } }
`,
  "after.yaml": `turns:
  - text: It is unknown how far the job came, so I look before I do it again.
    calls:
      - { tool: code.list_dir, input: {} }
  - expect:
      - { result: 0, contains: half-done }
    text: It began and was not ended. You decide whether it may begin anew.
`,
};

export async function showKilledRun(): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "soong-demo-killed-")));
  const env = { SOONG_AGENT_HOME: join(folder, "home") };
  const options = { cwd: join(folder, "project"), env };
  const soong = (...args: string[]): string =>
    capture(process.execPath, [PROGRAM, ...args], options);
  try {
    await write(folder);
    console.log("\nThe last act: a run is killed in the middle of a command\n");
    await killInTheMiddle(join(folder, "before.yaml"), options);
    const { session_id } = JSON.parse(soong("sessions", "--json")) as { session_id: string };

    console.log("\nThe session continues\n");
    const script = `script:${join(folder, "after.yaml")}`;
    run(process.execPath, [PROGRAM, "resume", session_id, "Go on", "--model", script], options);

    console.log("\nWhat the record says of it");
    const runs = await readdir(join(folder, "home", "runs"));
    const calls = runs.flatMap((run_id) => callEnds(soong("events", run_id, "--json"))).toSorted();
    for (const call of calls) console.log(`  ${call}`);
    if (calls.join() !== "code.list_dir: succeeded,code.run_command: unknown") {
      throw new CommandFailed("The call that was killed should be on record as unknown.");
    }
    console.log(`  ${soong("verify", session_id, "--artifacts").trim()}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function write(folder: string): Promise<void> {
  for (const [path, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, path), content, { mode: 0o600 });
  }
}

/** Starts a run, and ends its process without a word as soon as its command has begun. */
async function killInTheMiddle(
  script: string,
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<void> {
  const begun = join(cwd, "half-done");
  const args = [PROGRAM, "run", "Do the long job", "--model", `script:${script}`];
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const kill = (): void => {
    if (existsSync(begun)) child.kill("SIGKILL");
  };
  const watcher = watch(cwd, kill);
  kill();
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  watcher.close();
  if (signal !== "SIGKILL") throw new CommandFailed(`The run ended on its own, with ${code}.`);
  console.log("  … killed");
}

/** What became of each call, as `tool: status`. */
function callEnds(events: string): string[] {
  return events
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { data: { result?: ResultLine } })
    .flatMap(({ data: { result } }) =>
      result === undefined ? [] : [`${result.tool_name}: ${result.status}`],
    );
}

interface ResultLine {
  readonly tool_name: string;
  readonly status: string;
}
