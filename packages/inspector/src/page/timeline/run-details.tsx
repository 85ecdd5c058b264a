// A run that was chosen: what it is, what it cost, and where else to look at it.

import type { RunRow } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";
import { CutText } from "../parts/cut-text.tsx";
import { durationText, instantText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { hashOf } from "../route/hash-route.ts";
import { runName } from "../sessions/run-picker.tsx";
import type { SessionModel } from "../state/session-model.ts";
import { AbortRun } from "./abort-run.tsx";
import { runMark } from "./outcome.ts";

export function RunDetails(props: { model: SessionModel; run_id: string }) {
  const { about } = useInspector();
  const { model, run_id } = props;
  const { session_id } = model;
  const run = model.runs.get(run_id);
  if (run === undefined) {
    return (
      <p class="quiet">{model.is_loading ? "Loading the run…" : "This session has no such run."}</p>
    );
  }
  const isLive = model.session?.live !== undefined;
  const mark = runMark(run, isLive);
  return (
    <div class="run-details">
      <h2>{runName(run)}</h2>
      <p class={`mark ${mark.tone}`}>
        <span aria-hidden="true">{mark.sign}</span> {mark.word}
        {run.reason !== undefined && (
          <>
            : <CutText text={run.reason} />
          </>
        )}
      </p>
      <dl class="pairs">
        {pairsOf(run).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <ul class="links">
        <li>
          <a href={hashOf({ view: "session", session_id, tab: "facts", run_id })}>Its facts</a>
        </li>
        <li>
          <a href={hashOf({ view: "session", session_id, tab: "surface", run_id })}>
            Its surface: which tools it sees, and why
          </a>
        </li>
        {about.can.what_if && (
          <li>
            <a href={hashOf({ view: "what-if", session_id, run_id })}>
              What if: its decisions under another config
            </a>
          </li>
        )}
        <ParentLink session_id={session_id} run={run} />
      </ul>
      {isLive && about.can.answer && (run.status === "running" || run.status === "queued") && (
        <AbortRun session_id={session_id} run_id={run_id} />
      )}
    </div>
  );
}

function ParentLink({ session_id, run }: { session_id: string; run: RunRow }) {
  const { parent_run_id, parent_call_id } = run;
  if (parent_run_id === undefined) return null;
  const to = {
    run_id: parent_run_id,
    tool_call_id: parent_call_id,
  };
  return (
    <li>
      <a href={hashOf({ view: "session", session_id, tab: "timeline", ...to })}>What started it</a>
    </li>
  );
}

function pairsOf(run: RunRow): readonly (readonly [string, string])[] {
  const { usage } = run;
  const pairs: (readonly [string, string | undefined])[] = [
    ["Run", run.run_id],
    ["Agent", visibleLine(run.agent_id)],
    ["Role", run.role],
    ["Mode", run.mode],
    ["Began", instantText(run.started_at)],
    ["Ended", run.ended_at === undefined ? undefined : instantText(run.ended_at)],
    ["Took", run.ended_at === undefined ? undefined : durationText(run.ended_at - run.started_at)],
    ["Facts", run.facts.toLocaleString("en")],
    ["Calls", run.calls.toLocaleString("en")],
    ["Requests", usage?.requests.toLocaleString("en")],
    ["Tokens read", usage?.input_tokens?.toLocaleString("en")],
    ["Tokens written", usage?.output_tokens?.toLocaleString("en")],
    ["Cost", usage === undefined ? undefined : (usage.cost?.toFixed(4) ?? "unknown price")],
  ];
  return pairs.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, visibleLine(value)] as const],
  );
}
