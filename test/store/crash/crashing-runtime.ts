// The runtime that gets killed. Loads everything, waits for its job on standard input, and works until it is
// killed, on its own at the instant it was told or by anyone who started it.

import { createHash } from "node:crypto";
import { openSync, readSync, writeSync } from "node:fs";
import { createKernel, type Journal, type JournalEntry } from "@soong/core";
import { openStore, type OpenSession } from "@soong/store";
import { SAYS, type CrashJob, type Instant, type ReportLine } from "./crash-job.ts";
import { beginWork, MAIN_AGENT } from "./work.ts";

const job = JSON.parse(readLine()) as CrashJob;
const reportFile = openSync(job.report, "a");
let instants = 0;
const times = new Map<Instant, number>();

say(SAYS.begun);
try {
  await perform();
} catch (error) {
  tell({ kind: "failed", message: String((error as Error).stack) });
  process.exit(1);
}

async function perform(): Promise<void> {
  const { home, session_id, task } = job;
  const store = await openStore({ directory: home, at });
  if (task.kind === "remove") {
    await store.removeSession(session_id, "crash test");
    await store.close();
    say(SAYS.ready);
    return;
  }
  const isThere = (await store.sessions()).some((session) => session.session_id === session_id);
  const session = await (isThere
    ? store.openSession(session_id)
    : store.createSession({ session_id }));
  const opened: OpenSession = { ...session, journal: reportingJournal(session.journal) };
  if (task.kind === "hold_in_handler") {
    await holdInHandlers(opened, task.calls);
  } else if (task.kind !== "open") {
    const work = await beginWork({
      opened,
      project: job.project,
      mark: job.mark,
      at,
      delivered(results) {
        for (const { tool_call_id, status } of results) {
          tell({ kind: "result", tool_call_id, status });
        }
      },
    });
    await work.turns(task.turns);
    if (task.kind === "work") await work.neverEnding();
    else await work.end();
  }
  if (task.kind === "work_to_the_end") await store.close();
  else waitToBeKilled();
  say(SAYS.ready);
}

/** When whoever should do it is gone, there is nothing to wait for. */
function waitToBeKilled(): void {
  process.stdin.once("end", () => process.kill(process.pid, "SIGKILL"));
  process.stdin.resume();
}

/** Called at each labelled instant; does not come back from the one it was told to die at. */
function at(instant: Instant): void {
  instants += 1;
  const time = (times.get(instant) ?? 0) + 1;
  times.set(instant, time);
  tell({ kind: "at", instant });
  const { kill } = job;
  if (kill === undefined) return;
  const isNow =
    (kill.kind === "at" && kill.instant === instant && kill.occurrence === time) ||
    (kill.kind === "count" && kill.instants === instants);
  if (isNow) process.kill(process.pid, "SIGKILL");
  if (kill.kind === "in_commit" && instant === "commit.written" && kill.commit === time) {
    say(SAYS.kill);
  }
}

/** Tells of every fact once it is durable: when a flush that began after it has ended. */
function reportingJournal(journal: Journal): Journal {
  let appended: [seq: number, hash: string][] = [];
  return {
    append(entry: JournalEntry) {
      const taken = entry.facts.map((fact): [number, string] => [
        fact.seq,
        sha256(JSON.stringify(fact)),
      ]);
      journal.append(entry);
      appended.push(...taken);
    },
    async flush() {
      const facts = appended;
      appended = [];
      await journal.flush();
      const last = facts.at(-1);
      if (last === undefined) return;
      tell({ kind: "durable", facts });
      const [newest] = await journal.read(last[0] - 1, 1);
      tell({ kind: "head", hash: sha256(JSON.stringify(newest)) });
    },
    read: (after, limit) => journal.read(after, limit),
  };
}

/** While a handler holds up the thread nothing can be written: what a reader sees was there before it began. */
async function holdInHandlers({ session_id, journal }: OpenSession, calls: number): Promise<void> {
  const kernel = createKernel({
    tools: [
      {
        name: "crash.holds",
        description: "Holds everything up, for the crash test",
        input_schema: { type: "object" },
        permission: "write",
        handler() {
          say(SAYS.held);
          readLine();
          return "held";
        },
      },
    ],
  });
  const session = await kernel.openSession({
    session_id,
    journal,
    policy: { rules: [{ tool: "crash.*", decision: "allow" }] },
  });
  const run = await session.startRun({ agent_id: MAIN_AGENT });
  for (let i = 1; i <= calls; i += 1) {
    await run.execute([{ id: `${job.mark}-${i}`, name: "crash.holds", arguments: {} }]);
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function tell(line: ReportLine): void {
  writeSync(reportFile, `${JSON.stringify(line)}\n`);
}

function say(what: string): void {
  writeSync(1, what);
}

/** Waits for it, and for nothing else. */
function readLine(): string {
  const byte = Buffer.alloc(1);
  let line = "";
  for (;;) {
    if (readSync(0, byte) === 0) process.exit(0);
    if (byte[0] === 0x0a) return line;
    line += byte.toString("latin1");
  }
}
