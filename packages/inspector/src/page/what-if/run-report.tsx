// The decisions of one stored run, as they were and as they would be: which tools it would have seen, which calls would have been
// decided differently, and by which rule.

import { visibleLine } from "@soong/core";
import type { Verdict, WhatIf } from "../../wire/home-records.ts";
import { originText } from "../call/words.ts";
import { Table } from "../parts/list.tsx";
import { SignMark } from "../parts/signs.tsx";
import { Mono, ProblemText, spacedText } from "../parts/text.tsx";
import { linkToTimeline } from "../route/hash-route.ts";

const MOST_ROWS = 500;

export function RunReport({ report }: { report: WhatIf }) {
  const { session_id, run_id, calls, surface, refused } = report;
  if (refused !== undefined) {
    return <ProblemText text={`The run would not start: ${visibleLine(refused)}`} />;
  }
  return (
    <>
      <p role="status">
        {report.config_file === undefined ? (
          "With this rule"
        ) : (
          <>
            Under <Mono text={report.config_file} />
          </>
        )}
        : <strong>{calls.length}</strong> calls decided differently,{" "}
        <strong>{report.unchanged}</strong> as they were, <strong>{surface.length}</strong> tools
        seen differently.
      </p>
      {calls.length > 0 && (
        <>
          <h2>Calls</h2>
          <Table
            class="verdicts"
            head={["Call", "Was", "Now"]}
            rows={calls.slice(0, MOST_ROWS)}
            cells={({ tool_call_id, tool_name, seq, was, now }) => [
              <>
                <a href={linkToTimeline({ session_id, run_id, tool_call_id })}>
                  <Mono text={tool_name} />
                </a>
                <div class="quiet mono">#{seq}</div>
              </>,
              <VerdictText verdict={was} />,
              <VerdictText verdict={now} />,
            ]}
          />
          <Rest total={calls.length} />
        </>
      )}
      {surface.length > 0 && (
        <>
          <h2>Tools</h2>
          <Table
            head={["Tool", "Was", "Now", "Because"]}
            rows={surface.slice(0, MOST_ROWS)}
            cells={({ tool_name, was, now, reason = "" }) => [
              <Mono text={tool_name} />,
              visibleLine(was),
              `→ ${visibleLine(now)}`,
              spacedText(reason),
            ]}
          />
          <Rest total={surface.length} />
        </>
      )}
    </>
  );
}

function Rest({ total }: { total: number }) {
  return total > MOST_ROWS ? <p class="quiet">… and {total - MOST_ROWS} more</p> : null;
}

function VerdictText({ verdict }: { verdict: Verdict }) {
  const { decision, layer, rule, reason, origin } = verdict;
  return (
    <>
      <SignMark state={decision} /> {visibleLine(reason)}
      <div class="quiet mono">{visibleLine(`${layer} ${rule} ${originText(origin)}`)}</div>
    </>
  );
}
