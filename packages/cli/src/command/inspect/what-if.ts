// What stored runs would have come to with a rule more, or under another config, as `soong replay RUN --config FILE`: one run, or all
// of them, a few sessions at a time so that the page shows how far it is and can stop.

import { resolve } from "node:path";
import {
  InspectorError,
  type CallRef,
  type WhatIfAll,
  type WhatIfAllAsked,
  type WhatIfGroup,
  type WhatIfPort,
} from "@soong/inspector";
import { ReplayError, whatIf, type WhatIfOptions, type WhatIfReport } from "@soong/replay";
import type { RunRecord, SessionRecord, Store } from "@soong/store";
import { CommandError } from "../../output/index.ts";
import { readWhatIfConfig } from "../sessions/replay.ts";
import { openVerifiedSession, resolveRun } from "../stored.ts";
import { withInspectorErrors, type InspectedHome } from "./inspected-home.ts";
import { requireTypedRule } from "./typed-rule.ts";

/** Of one request: it is answered in seconds. */
const MOST_SESSIONS = 10;
const MOST_RUNS = 20;
const MOST_LATEST = 5;

export function createWhatIfPort(store: Store, { home, cwd }: InspectedHome): WhatIfPort {
  return {
    run: ({ run_id, ...asked }) =>
      withInspectorErrors(async () => {
        const change = await readChange(asked);
        const run = await resolveRun({ cwd }, store, run_id);
        const source = await openVerifiedSession(store, run);
        const report = await whatIf({ source, run_id, ...change }).catch(refuseReplay);
        const { config_file } = asked;
        return {
          ...report,
          ...(config_file === undefined ? {} : { config_file: resolve(cwd, config_file) }),
        };
      }),
    all: ({ after, ...asked }, signal) =>
      withInspectorErrors(async () => {
        const change = await readChange(asked);
        const page = await store.sessions({
          limit: MOST_SESSIONS,
          ...(after === undefined ? {} : { after: readCursor(after) }),
        });
        const tally = createTally();
        let last: SessionRecord | undefined;
        for (const session of page) {
          if (signal.aborted || tally.runs() >= MOST_RUNS) break;
          last = session;
          await decideSession(session, change, tally, signal);
        }
        const isEnd = page.length < MOST_SESSIONS && last === page.at(-1);
        return {
          ...tally.report(),
          ...(last === undefined ? {} : { since: last.updated_at }),
          ...(isEnd || last === undefined ? {} : { next: writeCursor(last) }),
        };
      }),
  };

  /** How the recorded policy is changed. A rule is added to what was there; a config takes the place of the recorded one. */
  async function readChange({ rule, config_file }: Omit<WhatIfAllAsked, "after">) {
    if (rule !== undefined) {
      const added = requireTypedRule(rule);
      const policy: WhatIfOptions["policy"] = (recorded) => ({
        ...recorded,
        rules: [...(recorded.rules ?? []), { ...added, origin: { code: "the rule on trial" } }],
      });
      return { policy };
    }
    if (config_file === undefined || config_file.trim() === "") {
      throw new InspectorError("bad_request", "Name the config file to try, such as other.toml.");
    }
    return readWhatIfConfig({ home, file: resolve(cwd, config_file) });
  }

  async function decideSession(
    session: SessionRecord,
    change: Pick<WhatIfOptions, "policy" | "config">,
    tally: ReturnType<typeof createTally>,
    signal: AbortSignal,
  ): Promise<void> {
    let runs: readonly RunRecord[] = [];
    try {
      const source = await openVerifiedSession(store, session);
      runs = (await source.runs()).toReversed();
      for (const run of runs) {
        if (signal.aborted) return;
        try {
          const report = await whatIf({ source, run_id: run.run_id, ...change });
          if (report.refused === undefined) tally.add(report, session, run);
          else tally.skip("would not start");
        } catch (error) {
          tally.skip(describeSkip(error));
        }
      }
    } catch (error) {
      // It was removed meanwhile, or is not as it was recorded.
      tally.skip(error instanceof CommandError ? "changed after it was recorded" : "not readable");
    }
  }
}

function createTally() {
  const groups = new Map<string, WhatIfGroup & { latest: CallRef[] }>();
  const skipped = new Map<string, number>();
  let runs = 0;
  let unchanged = 0;

  return {
    runs: () => runs,
    skip(why: string): void {
      runs += 1;
      skipped.set(why, (skipped.get(why) ?? 0) + 1);
    },
    add(report: WhatIfReport, { project = "" }: SessionRecord, run: RunRecord): void {
      runs += 1;
      unchanged += report.unchanged;
      const { session_id, run_id } = report;
      // The newest first, as the sessions are.
      for (const { tool_call_id, tool_name, was, now } of report.calls.toReversed()) {
        const about = { tool_name, project, was: was.decision, now: now.decision };
        const key = JSON.stringify(about);
        const group = groups.get(key) ?? { ...about, count: 0, latest: [] };
        group.count += 1;
        if (group.latest.length < MOST_LATEST) {
          const at = run.started_at;
          const decision = now.decision;
          group.latest.push({ session_id, run_id, tool_call_id, tool_name, project, at, decision });
        }
        groups.set(key, group);
      }
    },
    report: (): Omit<WhatIfAll, "since" | "next"> => ({
      runs,
      unchanged,
      groups: [...groups.values()],
      skipped: Object.fromEntries(skipped),
    }),
  };
}

function describeSkip(error: unknown): string {
  const code = error instanceof ReplayError ? error.code : "";
  if (code === "run_never_started") return "never began";
  if (code === "definitions_not_kept") return "recorded without the definitions of their tools";
  return "not readable";
}

function refuseReplay(error: unknown): never {
  throw error instanceof ReplayError ? new InspectorError("failed", error.message) : error;
}

function writeCursor({ updated_at, session_id }: SessionRecord): string {
  return JSON.stringify([updated_at, session_id]);
}

function readCursor(text: string): Pick<SessionRecord, "updated_at" | "session_id"> {
  const [, updated_at, session_id] = /^\["([^"]+)","([^"]+)"\]$/.exec(text) ?? [];
  if (updated_at !== undefined && session_id !== undefined) return { updated_at, session_id };
  throw new InspectorError("bad_request", "after is the next of an earlier answer.");
}
