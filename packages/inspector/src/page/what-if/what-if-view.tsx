// The decisions of a kept run under another config file: which tools it would have seen, which calls would have been
// decided otherwise, and by which rule.

import { visibleLine } from "@soong/core";
import { useState } from "preact/hooks";
import type { Verdict, WhatIf } from "../../wire/home-records.ts";
import { useAction } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { originText } from "../call/words.ts";
import { TextField } from "../parts/input.tsx";
import { Table } from "../parts/list.tsx";
import { SignMark } from "../parts/signs.tsx";
import { Mono, ProblemText, spacedText } from "../parts/text.tsx";
import { linkToTimeline } from "../route/hash-route.ts";

export function WhatIfView({ session_id, run_id }: { session_id: string; run_id: string }) {
  const { api, about } = useInspector();
  const [file, setFile] = useState("");
  const [report, setReport] = useState<WhatIf>();
  const { isRunning, problem, run } = useAction();

  function compare(): void {
    setReport(undefined);
    void run(async () => {
      setReport(await api.ask("POST /api/what-if", { body: { run_id, config_file: file } }));
    });
  }

  return (
    <section class="view what-if">
      <p>
        <a href={linkToTimeline({ session_id, run_id })}>← The run</a>
      </p>
      <h1>What if</h1>
      <p class="quiet">
        How the calls of <Mono text={run_id} /> would have been decided under another config file.
        Nothing is run or changed.
      </p>
      {about.can.what_if ? (
        <form
          class="what-if-form"
          onSubmit={(event) => {
            event.preventDefault();
            if (file.trim() !== "") compare();
          }}
        >
          <TextField
            name={`Config file; a relative path is taken from ${visibleLine(about.cwd)}`}
            class="mono"
            autocomplete="off"
            spellcheck={false}
            placeholder="strict.toml"
            value={file}
            onText={setFile}
          />
          <button type="submit" class="button primary" disabled={file.trim() === "" || isRunning}>
            Compare
          </button>
        </form>
      ) : (
        <p>This inspector cannot compare configs.</p>
      )}
      <div aria-live="polite">
        {isRunning && <p class="quiet">Evaluating the run again…</p>}
        <ProblemText text={problem} />
        {report && <Report report={report} />}
      </div>
    </section>
  );
}

const MOST_ROWS = 500;

function Report({ report }: { report: WhatIf }) {
  const { session_id, run_id, calls, surface, refused } = report;
  if (refused !== undefined) {
    return <ProblemText text={`The run would not start: ${visibleLine(refused)}`} />;
  }
  return (
    <>
      <p role="status">
        Under <Mono text={report.config_file} />: <strong>{calls.length}</strong> calls decided
        differently, <strong>{report.unchanged}</strong> as they were,{" "}
        <strong>{surface.length}</strong> tools seen differently.
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
