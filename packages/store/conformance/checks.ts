// Every check of a store, subject by subject, with those of the kernel's own interfaces run on its sessions.

import { artifactChecks } from "./artifact-checks.ts";
import { artifacts } from "./artifacts.ts";
import { callsAndRuns } from "./calls-and-runs.ts";
import { chain } from "./chain.ts";
import { storeCheck, type Check, type ConformanceCheck } from "./check.ts";
import { closing } from "./closing.ts";
import { hostileData } from "./hostile-data.ts";
import { journalChecks } from "./journal-checks.ts";
import { journalOfStore } from "./journal.ts";
import { oddNames } from "./odd-names.ts";
import { paging } from "./paging.ts";
import { questions } from "./questions.ts";
import { recovery } from "./recovery.ts";
import { removal } from "./removal.ts";
import { search } from "./search.ts";
import { sessions } from "./sessions.ts";
import { takenRuns } from "./taken-runs.ts";
import { tree } from "./tree.ts";
import type { OpenSession } from "@soong/store";

export const conformanceChecks: readonly ConformanceCheck[] = [
  ...onNewSession("journal", journalChecks),
  ...under("journal", [...journalOfStore, ...paging, ...hostileData]),
  ...under("conversation", [...tree, ...search]),
  ...under("sessions", [...sessions, ...oddNames, ...closing]),
  ...under("calls and runs", [...callsAndRuns, ...takenRuns]),
  ...onNewSession("artifacts", artifactChecks),
  ...under("artifacts", artifacts),
  ...under("recovery", recovery),
  ...under("chain", chain),
  ...under("removal", removal),
  ...under("questions", questions),
];

function under(subject: string, checks: readonly ConformanceCheck[]): ConformanceCheck[] {
  return checks.map((check) => ({ ...check, name: `${subject}: ${check.name}` }));
}

function onNewSession(
  subject: string,
  checks: readonly Check<Pick<OpenSession, "session_id" | "journal" | "artifacts">>[],
): ConformanceCheck[] {
  return checks.map((check) =>
    storeCheck(`${subject}: ${check.name}`, check.laws, async (place) => {
      await check.run(await (await place.open()).createSession());
    }),
  );
}
