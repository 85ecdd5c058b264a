// The stage of the cluster demo: homes and project directories of four machines on this one, the scripts their models play, and
// processes that end with the demo, however it ends.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";

export const PROGRAM = resolve("packages", "cli", "bin", "soong.cjs");
export const WORKERS = ["ash", "birch", "cedar"] as const;
export const VICTIM = "birch";
export const LEASE_MS = 3000;

const STALLS = "bread cheese fish flowers fruit honey nuts olives spice tea".split(" ");
export const STEPS = ["plan", ...STALLS, "list"];

const WORK_MS = 900;
/** Longer than the demo takes: it does not end before it is killed. */
const SLOW_MS = 120_000;

const CONFIG = `[store]
lease_ms = ${LEASE_MS}

[task]
lease_ms = ${LEASE_MS}

[agents.worker_pools.stalls]
remote = true
size = 6
`;

/** A diamond: one step, ten that wait for it, and one that waits for them. */
const PLAN = {
  turns: [
    {
      calls: [
        {
          tool: "agent.task_create",
          input: {
            title: "Prepare the market",
            goal: "Every stall is checked, and one list says what they need.",
            steps: [
              { step_id: "plan", title: "Draw the plan", instructions: "Where each stall is." },
              ...STALLS.map((stall) => ({
                step_id: stall,
                title: `Check the ${stall} stall`,
                instructions: "Look at it, and say what it needs.",
                depends_on: ["plan"],
              })),
              {
                step_id: "list",
                title: "Make the list",
                instructions: "Of all.",
                depends_on: STALLS,
              },
            ],
          },
        },
      ],
    },
    { text: "Twelve steps: a plan, ten stalls, and the list of them all." },
  ],
};

export async function writeStage(folder: string): Promise<void> {
  const write = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, path), content, { mode: 0o600 });
  };
  await write("plan.json", JSON.stringify(PLAN));
  for (const name of ["desk", ...WORKERS]) {
    await write(`${name}/home/config.toml`, CONFIG);
    await write(`${name}/project/README.md`, `The project directory of ${name}.\n`);
    await write(`${name}/work.json`, JSON.stringify(createWork(name)));
  }
}

/** One list of turns for each step that the worker may get. The victim gets no further than its first one. */
function createWork(name: string): object {
  const playStep = (ms: number): object[] => [
    { calls: [update({ status: "running" })] },
    { calls: [{ tool: "code.read_file", input: { path: "README.md" } }] },
    {
      parts: [{ call: update({ status: "completed", summary: `done by ${name}` }), after_ms: ms }],
    },
    { text: "Done." },
  ];
  const starts = STEPS.map((_, index) =>
    playStep(name === VICTIM && index > 0 ? SLOW_MS : WORK_MS),
  );
  return { turns: [], agents: { default_worker_agent: starts } };
}

function update(input: Readonly<Record<string, string>>): object {
  return { tool: "agent.task_update_step", input };
}

export interface StagedProcess {
  readonly pid: number;
  /** What it printed so far, and what it prints from now on. */
  onLine(take: (line: string) => void): void;
  /** Its exit code; 128 and the signal where one ended it. */
  readonly ended: Promise<number>;
  /** With SIGKILL, if it has not ended. */
  remove(): Promise<void>;
}

/** The shell ends the program when its standard input ends: also when the demo itself is killed. */
const GUARD = `exec 3<&0
"$@" 2>&1 </dev/null 3<&- &
echo $!
program=$!
{ read -r _ <&3; kill -KILL $program; } 2>/dev/null >&2 &
wait $program
code=$?
kill $!
exit $code`;

export async function startSoong(
  args: readonly string[],
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<StagedProcess> {
  // A session of its own, so that Ctrl-C reaches the demo alone, which then ends it.
  const child = spawn("/bin/sh", ["-c", GUARD, "sh", process.execPath, PROGRAM, ...args], {
    cwd: place.cwd,
    env: { ...process.env, ...place.env },
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => {});
  const ended = once(child, "close").then(([code]) => (code as number | null) ?? 1);
  const lines: string[] = [];
  const takers: ((line: string) => void)[] = [];
  const reader = createInterface({ input: child.stdout });
  const [first] = (await once(reader, "line")) as [string];
  reader.on("line", (line) => {
    lines.push(line);
    for (const take of takers) take(line);
  });
  return {
    pid: Number(first),
    onLine(take) {
      lines.forEach(take);
      takers.push(take);
    },
    ended,
    async remove() {
      child.stdin.end();
      await ended;
    },
  };
}
