// The rules of a policy, each with its lines, where it is written, and what it matched in the latest runs.

import { visibleLine } from "@soong/core";
import { exactText } from "@soong/core/internal";
import type { PolicyRule, RuleMatch, RuleMatches } from "../../wire/policy-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { originText } from "../call/words.ts";
import { useFirst } from "../parts/list.tsx";
import { SignMark } from "../parts/signs.tsx";
import { countText, ProblemText } from "../parts/text.tsx";
import { recordedMoment } from "../parts/time.ts";
import { CallLinks } from "../what-if/all-runs-report.tsx";
import { describeRuleInWords } from "./rule-words.ts";

const FIRST_RULES = 100;

export function RuleList({ rules, version }: { rules: readonly PolicyRule[]; version: number }) {
  const { value, problem, reload } = useAnswer("GET /api/policy/matches", {}, { version });
  const [shown, more] = useFirst(rules, FIRST_RULES, "rules");
  if (rules.length === 0) {
    return <p class="quiet">No rules: all is decided by the other layers.</p>;
  }
  return (
    <>
      <p class="quiet">{value === undefined ? "Counting what they matched…" : rangeText(value)}</p>
      <ProblemText text={problem} onRetry={reload} />
      <ol class="rules">
        {shown.map((rule) => (
          <Rule key={rule.id} rule={rule} matches={value} />
        ))}
      </ol>
      {more}
    </>
  );
}

function rangeText({ sessions, calls, since, has_older }: RuleMatches): string {
  if (sessions === 0) return "No session is recorded yet, so no rule has matched.";
  const from = since === undefined ? "" : `, since ${recordedMoment(since)}`;
  const older = has_older ? "; older ones were not read" : "";
  const which = sessions === 1 ? "one session" : `latest ${countText(sessions)} sessions`;
  return `Matches are of the ${which} (${countText(calls)} calls${from})${older}.`;
}

const NONE: RuleMatch = { matched: 0, decided: 0, latest: [] };

function Rule({ rule, matches }: { rule: PolicyRule; matches: RuleMatches | undefined }) {
  const { id, toml, origin } = rule;
  const known = matches?.matches ?? {};
  const match = Object.hasOwn(known, toml) ? (known[toml] ?? NONE) : NONE;
  return (
    <li class="card">
      <p>
        <SignMark state={rule.rule.decision} /> <strong>{describeRuleInWords(rule.rule)}</strong>{" "}
        <span class="quiet mono">
          {visibleLine(id)} {visibleLine(originText(origin))}
        </span>
      </p>
      {rule.rule.reason !== undefined && <p class="quiet">{visibleLine(rule.rule.reason)}</p>}
      {matches !== undefined && (
        <div class="rule-matches">
          {match.matched === 0 ? (
            <span class="chip">never matched</span>
          ) : (
            <span>
              matched {countText(match.matched)} {match.matched === 1 ? "call" : "calls"}, decided{" "}
              {countText(match.decided)}; latest:
            </span>
          )}{" "}
          <CallLinks calls={match.latest} />
        </div>
      )}
      <details>
        <summary>As it is written</summary>
        <pre class="code">{exactText(toml)}</pre>
      </details>
    </li>
  );
}
