// How it was decided whether the call may happen: by rules, by hooks, by the user; who, when, and after how long.

import { type ChainEntry, visibleLine } from "@soong/core";
import type { Decided, HookRun } from "../../wire/session-records.ts";
import { Table } from "../parts/list.tsx";
import { SignMark } from "../parts/signs.tsx";
import { CutText, Mono, Prose } from "../parts/text.tsx";
import { clockText, durationText } from "../parts/time.ts";
import { originText } from "./words.ts";

const BY = {
  policy: "By the rules",
  hook: "By a hook",
  user: "By the user",
  no_one: "No one to ask",
  grant: "By an earlier approval",
} as const;

export function CallDecisions({ decisions }: { decisions: readonly Decided[] }) {
  if (decisions.length === 0) return <p class="quiet">No decision recorded.</p>;
  return (
    <ol class="decisions">
      {decisions.map((decided) => (
        <li key={decided.seq}>
          <p>
            <strong>{BY[decided.by]}</strong>: <SignMark state={decided.decision} />{" "}
            <span class="quiet">at {clockText(decided.at)}</span>
          </p>
          <Prose text={decided.reason} />
          <Circumstances decided={decided} />
          {decided.chain && <DecisionChain chain={decided.chain} />}
        </li>
      ))}
    </ol>
  );
}

function Circumstances({ decided }: { decided: Decided }) {
  const { answered_by, waited_ms, grant_id, request } = decided;
  const parts = [
    answered_by && `answered by ${visibleLine(answered_by)}`,
    waited_ms !== undefined && `after ${durationText(waited_ms)} of waiting`,
    grant_id && `grant ${visibleLine(grant_id)}`,
  ].filter(Boolean);
  return (
    <>
      {parts.length > 0 && <p class="quiet">{parts.join(", ")}</p>}
      {request && <p class="quiet">Asked because: {visibleLine(request.reason)}</p>}
    </>
  );
}

export function HookRuns({ hooks }: { hooks: readonly HookRun[] }) {
  return (
    <Table
      head={["Hook", "Outcome", "Took"]}
      rows={hooks}
      cells={({ hook, event, outcome, detail, duration_ms }) => [
        <>
          <Mono text={hook} />
          <div class="quiet">{visibleLine(event)}</div>
        </>,
        <>
          <SignMark state={outcome} />
          {detail !== undefined && (
            <div class="prose">
              <CutText text={detail} />
            </div>
          )}
        </>,
        duration_ms === undefined ? "…" : durationText(duration_ms),
      ]}
    />
  );
}

/** Every layer and rule that was evaluated: its verdict, why, and where it is written. The decisive one is marked. */
export function DecisionChain({ chain }: { chain: readonly ChainEntry[] }) {
  if (chain.length === 0) return <p class="quiet">No rule was evaluated.</p>;
  return (
    <Table
      class="chain"
      head={["Layer and rule", "Verdict", "Reason"]}
      rows={chain}
      isMarked={({ decisive }) => decisive === true}
      cells={({ layer, rule, verdict, decisive, every_time, reason, origin }) => [
        <>
          {visibleLine(layer)}
          <div class="mono quiet">{visibleLine(rule)}</div>
        </>,
        <>
          <SignMark state={verdict} />
          {decisive === true && <div class="chip">◀ decides</div>}
          {every_time === true && <div class="quiet">asked every time</div>}
        </>,
        <>
          {visibleLine(reason)}
          {origin && <div class="mono quiet">{visibleLine(originText(origin))}</div>}
        </>,
      ]}
    />
  );
}
