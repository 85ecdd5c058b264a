// A run that was chosen: what it is, what it cost, and where else to look at it.

import type { RunRow } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";
import { CutText } from "../parts/text.tsx";
import { durationText, instantText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { hashOf, timelineHash } from "../route/hash-route.ts";
import { runName } from "../sessions/run-picker.tsx";
import type { SessionModel } from "../state/session-model.ts";
import { Mark, runSign } from "../parts/signs.tsx";
import { useAction } from "../api/use-action.ts";
import { ConfirmButton } from "../parts/button.tsx";
import { ProblemText } from "../parts/loading.tsx";

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
  return (
    <div class="run-details">
      <h2>{runName(run)}</h2>
      <p class="run-outcome">
        <Mark sign={runSign(run, isLive)} />
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
      <a href={timelineHash({ session_id, ...to })}>Started by</a>
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
    ["Input tokens", usage?.input_tokens?.toLocaleString("en")],
    ["Output tokens", usage?.output_tokens?.toLocaleString("en")],
    ["Cost", usage === undefined ? undefined : (usage.cost?.toFixed(4) ?? "price unknown")],
  ];
  return pairs.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, visibleLine(value)] as const],
  );
}

export function AbortRun({ session_id, run_id }: { session_id: string; run_id: string }) {
  const { api, announce } = useInspector();
  const { problem, run } = useAction();
  const abort = () =>
    run(async () => {
      const { run_ids } = await api.ask("POST /api/runs/:run_id/abort", {
        path: { run_id },
        body: { session_id },
      });
      announce(`Stop requested for ${run_ids.length} ${run_ids.length === 1 ? "run" : "runs"}`);
    });
  return (
    <div class="abort">
      <ConfirmButton
        name="Abort this run…"
        look="danger"
        question="Abort it and every run it started?"
        yes="Abort"
        focus="no"
        busy="Requesting the stop…"
        done="Stop requested."
        onConfirm={abort}
      />
      {problem !== undefined && <ProblemText text={problem} />}
    </div>
  );
}
