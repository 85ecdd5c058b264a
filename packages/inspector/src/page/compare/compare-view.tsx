// Two runs side by side: what they were asked, how they went, what they cost, their calls beside each other, and their
// answers. What differs is marked.

import { visibleLine } from "@soong/core";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { RecordedCall, RunRecord } from "../../wire/session-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { Button } from "../parts/button.tsx";
import { useFirst } from "../parts/list.tsx";
import { Mark, runSign, SignMark } from "../parts/signs.tsx";
import { countText, CutText, Loaded, Prose } from "../parts/text.tsx";
import { durationText } from "../parts/time.ts";
import {
  linkToSession,
  linkToTimeline,
  type CompareRoute,
  type RunPlace,
} from "../route/hash-route.ts";
import { alignCalls, isSameCall, type AlignedCalls } from "./align-calls.ts";
import { RunChooser } from "./run-chooser.tsx";

export function CompareView({ route }: { route: CompareRoute }) {
  const { go } = useInspector();
  const { left, right } = route;
  return (
    <section class="view compare">
      <h1>Compare two runs</h1>
      <div class="compare-choosers">
        <RunChooser
          name="First run"
          place={left}
          onPlace={(left) => go({ ...route, left }, "replace")}
        />
        <Button
          title="Swap them"
          onClick={() => go({ ...route, left: right, right: left }, "replace")}
        >
          <span aria-hidden="true">⇄</span>
          <span class="unseen">Swap the runs</span>
        </Button>
        <RunChooser
          name="Second run"
          place={right}
          onPlace={(right) => go({ ...route, right }, "replace")}
        />
      </div>
      {isWhole(left) && isWhole(right) ? (
        <Compared left={left} right={right} />
      ) : (
        <p class="quiet">Choose a session and a run on each side.</p>
      )}
    </section>
  );
}

type WholePlace = Required<RunPlace>;

function isWhole(place: RunPlace | undefined): place is WholePlace {
  return place?.run_id !== undefined;
}

function Compared({ left, right }: { left: WholePlace; right: WholePlace }) {
  const route = "GET /api/sessions/:session_id/runs/:run_id/record";
  const a = useAnswer(route, { path: { ...left } });
  const b = useAnswer(route, { path: { ...right } });
  return (
    <>
      <Loaded from={a} what="the first run" />
      <Loaded from={b} what="the second run" />
      {a.value && b.value && <Records left={a.value} right={b.value} />}
    </>
  );
}

function Records({ left, right }: { left: RunRecord; right: RunRecord }) {
  return (
    <>
      <div class="md-table" role="region" aria-label="The runs" tabIndex={0}>
        <table class="table compare-runs">
          <thead>
            <tr>
              <th scope="col">
                <span class="unseen">What</span>
              </th>
              {[left, right].map(({ session, run }, index) => (
                <th key={index} scope="col">
                  <a href={linkToSession(session.session_id)}>
                    {visibleLine(session.title ?? session.session_id)}
                  </a>{" "}
                  <a
                    class="mono"
                    href={linkToTimeline({ session_id: session.session_id, run_id: run.run_id })}
                  >
                    {visibleLine(run.run_id)}
                  </a>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {ROWS.map(([name, show, key]) => {
              const isOther = key !== undefined && key(left) !== key(right);
              return (
                <tr key={name} class={isOther ? "differs" : undefined}>
                  <th scope="row">
                    {name}
                    {isOther && <span class="unseen"> (differs)</span>}
                  </th>
                  <td>{show(left)}</td>
                  <td>{show(right)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <Calls left={left} right={right} />
      <h2>Answers</h2>
      <div class="compare-answers">
        {[left, right].map(({ answer }, index) => (
          <section
            key={index}
            aria-label={index === 0 ? "First answer" : "Second answer"}
            class="card"
          >
            {answer === "" ? <p class="quiet">It has no answer.</p> : <Markdown text={answer} />}
          </section>
        ))}
      </div>
    </>
  );
}

type Row = readonly [
  name: string,
  show: (record: RunRecord) => ComponentChildren,
  /** What makes a difference. */
  key?: (record: RunRecord) => unknown,
];

const ROWS: readonly Row[] = [
  ["Prompt", ({ prompt }) => <Prose text={prompt} />, ({ prompt }) => prompt],
  [
    "Project",
    ({ session }) => visibleLine(session.project ?? ""),
    ({ session }) => session.project,
  ],
  ["Model", ({ models }) => visibleLine(models.join(", ")), ({ models }) => models.join(" ")],
  ["Mode", ({ run }) => visibleLine(run.mode ?? ""), ({ run }) => run.mode],
  [
    "Status",
    ({ run, session }) => (
      <>
        <Mark sign={runSign(run, session.live !== undefined)} />
        {run.reason !== undefined && (
          <>
            : <CutText text={run.reason} first={200} />
          </>
        )}
      </>
    ),
    ({ run }) => run.status,
  ],
  [
    "Took",
    ({ run: { started_at, ended_at } }) =>
      ended_at === undefined ? "" : durationText(ended_at - started_at),
  ],
  ["Requests", ({ run }) => countOf(run.usage?.requests), ({ run }) => run.usage?.requests],
  [
    "Input tokens",
    ({ run }) => countOf(run.usage?.input_tokens),
    ({ run }) => run.usage?.input_tokens,
  ],
  [
    "Output tokens",
    ({ run }) => countOf(run.usage?.output_tokens),
    ({ run }) => run.usage?.output_tokens,
  ],
  ["Cost", costOf, costOf],
  ["Calls", ({ run }) => countOf(run.calls), ({ run }) => run.calls],
];

function countOf(count: number | undefined): string {
  return count === undefined ? "" : countText(count);
}

function costOf({ run: { usage } }: RunRecord): string {
  if (usage === undefined) return "";
  return usage.cost === null ? "price unknown" : `${usage.cost.toFixed(4)} ${usage.currency ?? ""}`;
}

function Calls({ left, right }: { left: RunRecord; right: RunRecord }) {
  const rows = useMemo(() => alignCalls(left.calls, right.calls), [left, right]);
  const same = rows.filter(isUnchanged).length;
  const [shown, more] = useFirst(rows, 200, "calls");
  const omitted = left.omitted + right.omitted;
  return (
    <>
      <h2>Calls</h2>
      <p class="quiet">
        {same} of {rows.length} are the same on both sides.
        {omitted > 0 && ` ${countText(omitted)} more calls are not compared.`}
      </p>
      {rows.length > 0 && (
        <div class="md-table" role="region" aria-label="The calls" tabIndex={0}>
          <table class="table compare-calls">
            <thead>
              <tr>
                <th scope="col">
                  <span class="unseen">Difference</span>
                </th>
                <th scope="col">First run</th>
                <th scope="col">Second run</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((row, index) => (
                <tr key={index} class={isUnchanged(row) ? undefined : "differs"}>
                  <td>{differenceOf(row)}</td>
                  <td>{row.left && <CallCell call={row.left} record={left} />}</td>
                  <td>{row.right && <CallCell call={row.right} record={right} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {more}
    </>
  );
}

function CallCell({ call, record }: { call: RecordedCall; record: RunRecord }) {
  const { tool_call_id, tool_name, input, outcome, duration_ms, decisions } = call;
  const { session_id } = record.session;
  const last = decisions.at(-1);
  return (
    <>
      <a
        class="mono"
        href={linkToTimeline({ session_id, run_id: record.run.run_id, tool_call_id })}
      >
        {visibleLine(tool_name)}
      </a>{" "}
      {outcome !== undefined && <SignMark state={outcome} />}{" "}
      <span class="quiet">
        {duration_ms !== undefined && durationText(duration_ms)}
        {last !== undefined && ` · ${visibleLine(last.by)}: `}
      </span>
      {last !== undefined && <SignMark state={last.decision} />}
      <div class="mono compare-input">
        <CutText text={input} first={160} />
      </div>
    </>
  );
}

type CallPair = AlignedCalls<RecordedCall>;

function isUnchanged(row: CallPair): boolean {
  return differenceOf(row) === "same";
}

function differenceOf({ left, right }: CallPair): string {
  if (left === undefined) return "only second";
  if (right === undefined) return "only first";
  const parts = [
    isSameCall(left, right) ? "" : "input",
    decisionOf(left) === decisionOf(right) ? "" : "decision",
    left.outcome === right.outcome ? "" : "outcome",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "same" : `other ${parts.join(", ")}`;
}

function decisionOf({ decisions }: RecordedCall): string {
  return decisions.map(({ by, decision }) => `${by} ${decision}`).join(" ");
}
