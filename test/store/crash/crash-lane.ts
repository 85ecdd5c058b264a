// One line of crashes in one place: a session is worked on, killed, worked on again, killed while it recovers,
// checked, and continues. Several lanes run side by side.

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openStore, type Recovery } from "@soong/store";
import { checkEffects } from "./check-effects.ts";
import { allFacts, callsIn } from "./check-facts.ts";
import { checkArtifacts } from "./check-home.ts";
import { checkSession, type CrashedSession } from "./check-session.ts";
import { SAYS, type CrashTask, type Kill, type ReportLine } from "./crash-job.ts";
import { makeCrashPlace, type Runtimes } from "./runtime-process.ts";
import { addReport, nothingReported } from "./reported.ts";
import { makeProject } from "./work-effects.ts";

/** From inside, as the job says, or from outside after so long. */
export type Killing = Kill | { readonly kind: "outside"; readonly afterMs: number };

export interface CrashLane {
  readonly home: string;
  readonly session_id: string;
  /** Has a runtime do this and kills it, in the end if it has not come to it. */
  crash(task: CrashTask, killing: Killing): Promise<Crash>;
  /** Opens the session again and checks everything. */
  check(): Promise<Recovery>;
  /** Once more what happened outside, of all its sessions: nothing may have been added since. */
  checkEffectsAgain(): Promise<void>;
  nextSession(): Promise<void>;
}

export interface Crash {
  /** What it reported. */
  readonly report: readonly ReportLine[];
  /** How long it lived. */
  readonly ms: number;
}

let processes = 0;

export async function openCrashLane(runtimes: Runtimes): Promise<CrashLane> {
  const { home, folder } = await makeCrashPlace(runtimes.folder);
  const sessions: CrashedSession[] = [];
  let current = await newSession();

  return {
    home,
    get session_id() {
      return current.session_id;
    },
    async crash(task, killing) {
      processes += 1;
      const mark = `p${processes}`;
      const runtime = runtimes.start({
        home,
        project: current.project,
        session_id: current.session_id,
        report: join(folder, `${mark}.report`),
        mark,
        task,
        ...(killing.kind === "outside" ? {} : { kill: killing }),
      });
      await runtime.said(SAYS.begun);
      const begun = performance.now();
      if (killing.kind === "outside") await delay(killing.afterMs);
      else await runtime.said(SAYS.ready);
      runtime.kill();
      await runtime.ended;
      const ms = performance.now() - begun;
      const report = runtime.report();
      addReport(current.reported, report);
      return { report, ms };
    },
    async check() {
      processes += 1;
      const recovered = await checkSession(current, `p${processes}`);
      await checkArtifacts(home);
      return recovered;
    },
    async checkEffectsAgain() {
      const store = await openStore({ directory: home, readOnly: true });
      try {
        for (const { project, session_id } of sessions) {
          checkEffects(project, callsIn(await allFacts(await store.readSession(session_id))));
        }
      } finally {
        await store.close();
      }
    },
    async nextSession() {
      current = await newSession();
    },
  };

  async function newSession(): Promise<CrashedSession> {
    const session_id = `session_${sessions.length + 1}`;
    const project = join(folder, session_id);
    await makeProject(project);
    const session = { home, project, session_id, reported: nothingReported() };
    sessions.push(session);
    return session;
  }
}
