// How it was decided whether the call may happen: by rules, by hooks, by a person; who, when, and after how long.

import type { Decided, HookRun } from "../../wire/index.ts";
import { CutText } from "../parts/cut-text.tsx";
import { clockText, durationText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { DecisionChain } from "./decision-chain.tsx";
import { SignMark } from "./sign-mark.tsx";

const BY = {
  policy: "By the rules",
  hook: "By a hook",
  person: "By a person",
  nobody: "Nobody could be asked",
  grant: "By an earlier yes",
} as const;

export function CallDecisions(props: { decisions: readonly Decided[] }) {
  if (props.decisions.length === 0) return <p class="quiet">It was never decided about.</p>;
  return (
    <ol class="decisions">
      {props.decisions.map((decided) => (
        <li key={decided.seq}>
          <p>
            <strong>{BY[decided.by]}</strong>: <SignMark state={decided.decision} />{" "}
            <span class="quiet">at {clockText(decided.at)}</span>
          </p>
          {decided.reason !== undefined && (
            <p class="prose">
              <CutText text={decided.reason} />
            </p>
          )}
          <Person decided={decided} />
          {decided.chain !== undefined && <DecisionChain chain={decided.chain} />}
        </li>
      ))}
    </ol>
  );
}

function Person(props: { decided: Decided }) {
  const { answered_by, waited_ms, grant_id, request } = props.decided;
  const parts = [
    ...(answered_by === undefined ? [] : [`answered by ${visibleLine(answered_by)}`]),
    ...(waited_ms === undefined ? [] : [`after ${durationText(waited_ms)} of waiting`]),
    ...(grant_id === undefined ? [] : [`grant ${visibleLine(grant_id)}`]),
  ];
  return (
    <>
      {parts.length > 0 && <p class="quiet">{parts.join(", ")}</p>}
      {request !== undefined && <p class="quiet">Asked because: {visibleLine(request.reason)}</p>}
    </>
  );
}

export function HookRuns(props: { hooks: readonly HookRun[] }) {
  return (
    <table class="table hooks">
      <thead>
        <tr>
          <th>Hook</th>
          <th>Outcome</th>
          <th>Took</th>
        </tr>
      </thead>
      <tbody>
        {props.hooks.map((hook, index) => (
          <tr key={index}>
            <td>
              <span class="mono">{visibleLine(hook.hook)}</span>
              <div class="quiet">{visibleLine(hook.event)}</div>
            </td>
            <td>
              <SignMark state={hook.outcome} />
              {hook.detail !== undefined && (
                <div class="prose">
                  <CutText text={hook.detail} />
                </div>
              )}
            </td>
            <td>{hook.duration_ms === undefined ? "…" : durationText(hook.duration_ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
