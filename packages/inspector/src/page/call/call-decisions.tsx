// How it was decided whether the call may happen: by rules, by hooks, by the user; who, when, and after how long.

import { Table } from "../parts/table.tsx";
import { CutText, Mono, Prose } from "../parts/text.tsx";
import type { Decided, HookRun } from "../../wire/index.ts";
import { clockText, durationText } from "../parts/time-text.ts";
import { type ChainEntry, visibleLine } from "@soong/core";
import { SignMark } from "../parts/signs.tsx";
import { originText } from "./words.ts";

const BY = {
  policy: "By the rules",
  hook: "By a hook",
  user: "By the user",
  no_one: "No one to ask",
  grant: "By an earlier approval",
} as const;

export function CallDecisions(props: { decisions: readonly Decided[] }) {
  if (props.decisions.length === 0) return <p class="quiet">No decision recorded.</p>;
  return (
    <ol class="decisions">
      {props.decisions.map((decided) => (
        <li key={decided.seq}>
          <p>
            <strong>{BY[decided.by]}</strong>: <SignMark state={decided.decision} />{" "}
            <span class="quiet">at {clockText(decided.at)}</span>
          </p>
          <Prose text={decided.reason} />
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
    <Table head={["Hook", "Outcome", "Took"]} class="hooks">
      {props.hooks.map((hook, index) => (
        <tr key={index}>
          <td>
            <Mono text={hook.hook} />
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
    </Table>
  );
}

/** Every layer and rule that was evaluated: its verdict, why, and where it is written. The decisive one is marked. */
export function DecisionChain(props: { chain: readonly ChainEntry[] }) {
  if (props.chain.length === 0) return <p class="quiet">No rule was evaluated.</p>;
  return (
    <Table head={["Layer and rule", "Verdict", "Reason"]} class="chain">
      {props.chain.map((entry, index) => (
        <tr key={index} class={entry.decisive === true ? "decisive" : undefined}>
          <td>
            {visibleLine(entry.layer)}
            <div class="mono quiet">{visibleLine(entry.rule)}</div>
          </td>
          <td>
            <SignMark state={entry.verdict} />
            {entry.decisive === true && <div class="chip">◀ decides</div>}
            {entry.every_time === true && <div class="quiet">asked every time</div>}
          </td>
          <td>
            {visibleLine(entry.reason)}
            {entry.origin !== undefined && (
              <div class="mono quiet">{visibleLine(originText(entry.origin))}</div>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
