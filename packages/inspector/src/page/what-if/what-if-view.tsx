// The decisions of a kept run under another config file: which tools it would have seen, which calls would have been
// decided otherwise, and by which rule.

import { Table } from "../parts/table.tsx";
import { useAction } from "../api/use-action.ts";
import { Mono } from "../parts/text.tsx";
import { useState } from "preact/hooks";
import type { Verdict, WhatIf } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";
import { SignMark } from "../parts/signs.tsx";
import { originText } from "../call/words.ts";
import { ProblemText } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";
import { timelineHash } from "../route/hash-route.ts";

export function WhatIfView(props: { session_id: string; run_id: string }) {
  const { session_id, run_id } = props;
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
        <a href={timelineHash({ session_id, run_id })}>← The run</a>
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
          <label class="field">
            Config file; a relative path is taken from {visibleLine(about.cwd)}
            <input
              type="text"
              class="mono"
              autocomplete="off"
              spellcheck={false}
              placeholder="strict.toml"
              value={file}
              onInput={(event) => setFile(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="button primary" disabled={file.trim() === "" || isRunning}>
            Compare
          </button>
        </form>
      ) : (
        <p>This inspector cannot compare configs.</p>
      )}
      <div aria-live="polite">
        {isRunning && <p class="quiet">Evaluating the run again…</p>}
        {problem !== undefined && <ProblemText text={problem} />}
        {report !== undefined && <Report report={report} />}
      </div>
    </section>
  );
}

const MOST_ROWS = 500;

function Report(props: { report: WhatIf }) {
  const { report } = props;
  if (report.refused !== undefined) {
    return <ProblemText text={`The run would not start: ${visibleLine(report.refused)}`} />;
  }
  const { calls, surface, unchanged } = report;
  return (
    <>
      <p role="status">
        Under <Mono text={report.config_file} />: <strong>{calls.length}</strong> calls decided
        differently, <strong>{unchanged}</strong> as they were, <strong>{surface.length}</strong>{" "}
        tools seen differently.
      </p>
      {calls.length > 0 && <Calls report={report} />}
      {surface.length > 0 && (
        <>
          <h2>Tools</h2>
          <Table head={["Tool", "Was", "Now", "Because"]}>
            {surface.slice(0, MOST_ROWS).map(({ tool_name, was, now, reason }) => (
              <tr key={tool_name}>
                <td class="mono">{visibleLine(tool_name)}</td>
                <td>{visibleLine(was)}</td>
                <td>→ {visibleLine(now)}</td>
                <td>{visibleLine(reason?.replaceAll("_", " ") ?? "")}</td>
              </tr>
            ))}
          </Table>
          <Rest total={surface.length} />
        </>
      )}
    </>
  );
}

function Calls(props: { report: WhatIf }) {
  const { session_id, run_id, calls } = props.report;
  return (
    <>
      <h2>Calls</h2>
      <Table head={["Call", "Was", "Now"]} class="verdicts">
        {calls.slice(0, MOST_ROWS).map(({ tool_call_id, tool_name, seq, was, now }) => (
          <tr key={seq}>
            <td>
              <a href={timelineHash({ session_id, run_id, tool_call_id })}>
                <Mono text={tool_name} />
              </a>
              <div class="quiet mono">#{seq}</div>
            </td>
            <td>
              <VerdictText verdict={was} />
            </td>
            <td>
              <VerdictText verdict={now} />
            </td>
          </tr>
        ))}
      </Table>
      <Rest total={calls.length} />
    </>
  );
}

function Rest(props: { total: number }) {
  if (props.total <= MOST_ROWS) return null;
  return <p class="quiet">… and {props.total - MOST_ROWS} more</p>;
}

function VerdictText(props: { verdict: Verdict }) {
  const { decision, layer, rule, reason, origin } = props.verdict;
  return (
    <>
      <SignMark state={decision} /> {visibleLine(reason)}
      <div class="quiet mono">
        {visibleLine(layer)} {visibleLine(rule)} {visibleLine(originText(origin))}
      </div>
    </>
  );
}
