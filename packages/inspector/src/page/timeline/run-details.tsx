// A run that was chosen: what it is, what it cost, and where else to look at it.

import { visibleLine } from "@soong/core";
import type { RunRow } from "../../wire/session-records.ts";
import { useAction } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { ConfirmButton } from "../parts/button.tsx";
import { Pairs } from "../parts/list.tsx";
import { Mark, runSign } from "../parts/signs.tsx";
import { CutText, ProblemText } from "../parts/text.tsx";
import { durationText, instantText } from "../parts/time.ts";
import { writeHash, linkToTimeline } from "../route/hash-route.ts";
import { runName } from "../sessions/run-picker.tsx";
import type { SessionModel } from "../state/session-model.ts";

export function RunDetails({ model, run_id }: { model: SessionModel; run_id: string }) {
  const { can } = useInspector().about;
  const { session_id } = model;
  const run = model.runs.get(run_id);
  if (run === undefined) {
    return (
      <p class="quiet">{model.is_loading ? "Loading the run…" : "This session has no such run."}</p>
    );
  }
  const isLive = model.session?.live !== undefined;
  const { parent_run_id, parent_call_id, status, reason } = run;
  const at = { view: "session", session_id, run_id } as const;
  const links: [address: string | false | undefined, name: string][] = [
    [writeHash({ ...at, tab: "facts" }), "Its facts"],
    [writeHash({ ...at, tab: "surface" }), "Its surface: which tools it sees, and why"],
    [
      can.what_if && writeHash({ ...at, view: "what-if" }),
      "What if: its decisions under another config",
    ],
    [writeHash({ view: "compare", left: { session_id, run_id } }), "Compare it with another run"],
    [
      parent_run_id &&
        linkToTimeline({ session_id, run_id: parent_run_id, tool_call_id: parent_call_id }),
      "Started by",
    ],
  ];
  return (
    <div class="run-details">
      <h2>{runName(run)}</h2>
      <p class="run-outcome">
        <Mark sign={runSign(run, isLive)} />
        {reason !== undefined && (
          <>
            : <CutText text={reason} />
          </>
        )}
      </p>
      <Pairs pairs={listPairs(run)} />
      <ul class="links">
        {links.map(
          ([href, name]) =>
            href && (
              <li key={name}>
                <a href={href}>{name}</a>
              </li>
            ),
        )}
      </ul>
      {isLive && can.answer && (status === "running" || status === "queued") && (
        <AbortRun session_id={session_id} run_id={run_id} />
      )}
    </div>
  );
}

function listPairs({ usage, ended_at, started_at, ...run }: RunRow) {
  const count = (value: number | undefined) => value?.toLocaleString("en");
  const text = (value: string | undefined) => value && visibleLine(value);
  return [
    ["Run", text(run.run_id)],
    ["Agent", text(run.agent_id)],
    ["Definition", text(run.agent_definition_id)],
    ["Role", text(run.role)],
    ["Mode", text(run.mode)],
    ["Began", instantText(started_at)],
    ["Ended", ended_at !== undefined && instantText(ended_at)],
    ["Took", ended_at !== undefined && durationText(ended_at - started_at)],
    ["Facts", count(run.facts)],
    ["Calls", count(run.calls)],
    ["Requests", count(usage?.requests)],
    ["Input tokens", count(usage?.input_tokens)],
    ["Output tokens", count(usage?.output_tokens)],
    ["Cost", usage && (usage.cost?.toFixed(4) ?? "price unknown")],
  ] as const;
}

function AbortRun({ session_id, run_id }: { session_id: string; run_id: string }) {
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
      <ProblemText text={problem} />
    </div>
  );
}
