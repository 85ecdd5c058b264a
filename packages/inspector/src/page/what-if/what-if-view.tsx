// The decisions of a kept run under another config file: which tools it would have seen, which calls would have been
// decided otherwise, and by which rule.

import { useState } from "preact/hooks";
import type { Verdict, WhatIf } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";
import { SignMark } from "../call/sign-mark.tsx";
import { originText } from "../call/words.ts";
import { ProblemText } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";
import { hashOf } from "../route/hash-route.ts";

type State =
  | { is: "none" }
  | { is: "asking" }
  | { is: "failed"; message: string }
  | { is: "told"; report: WhatIf };

export function WhatIfView(props: { session_id: string; run_id: string }) {
  const { session_id, run_id } = props;
  const { api, about } = useInspector();
  const [file, setFile] = useState("");
  const [state, setState] = useState<State>({ is: "none" });

  async function ask(): Promise<void> {
    setState({ is: "asking" });
    try {
      const report = await api.ask("POST /api/what-if", { body: { run_id, config_file: file } });
      setState({ is: "told", report });
    } catch (error) {
      setState({ is: "failed", message: error instanceof Error ? error.message : String(error) });
    }
  }

  return (
    <section class="view what-if">
      <p>
        <a href={hashOf({ view: "session", session_id, tab: "timeline", run_id })}>← The run</a>
      </p>
      <h1>What if</h1>
      <p class="quiet">
        How the calls of <span class="mono">{visibleLine(run_id)}</span> would have been decided
        under another config file. Nothing is run, and nothing is changed.
      </p>
      {about.can.what_if ? (
        <form
          class="what-if-form"
          onSubmit={(event) => {
            event.preventDefault();
            if (file.trim() !== "") void ask();
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
          <button
            type="submit"
            class="button primary"
            disabled={file.trim() === "" || state.is === "asking"}
          >
            Compare
          </button>
        </form>
      ) : (
        <p>This inspector was started without it.</p>
      )}
      <div aria-live="polite">
        {state.is === "asking" && <p class="quiet">Deciding again…</p>}
        {state.is === "failed" && <ProblemText text={state.message} />}
        {state.is === "told" && <Report report={state.report} />}
      </div>
    </section>
  );
}

const MOST_ROWS = 500;

function Report(props: { report: WhatIf }) {
  const { report } = props;
  if (report.refused !== undefined) {
    return <ProblemText text={`The run would not begin at all: ${visibleLine(report.refused)}`} />;
  }
  const { calls, surface, unchanged } = report;
  return (
    <>
      <p role="status">
        Under <span class="mono">{visibleLine(report.config_file)}</span>:{" "}
        <strong>{calls.length}</strong> calls decided otherwise, <strong>{unchanged}</strong> as
        they were, <strong>{surface.length}</strong> tools seen otherwise.
      </p>
      {calls.length > 0 && <Calls report={report} />}
      {surface.length > 0 && (
        <>
          <h2>Tools</h2>
          <table class="table">
            <thead>
              <tr>
                <th>Tool</th>
                <th>Was</th>
                <th>Now</th>
                <th>Because</th>
              </tr>
            </thead>
            <tbody>
              {surface.slice(0, MOST_ROWS).map(({ tool_name, was, now, reason }) => (
                <tr key={tool_name}>
                  <td class="mono">{visibleLine(tool_name)}</td>
                  <td>{visibleLine(was)}</td>
                  <td>→ {visibleLine(now)}</td>
                  <td>{visibleLine(reason?.replaceAll("_", " ") ?? "")}</td>
                </tr>
              ))}
            </tbody>
          </table>
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
      <table class="table verdicts">
        <thead>
          <tr>
            <th>Call</th>
            <th>Was</th>
            <th>Now</th>
          </tr>
        </thead>
        <tbody>
          {calls.slice(0, MOST_ROWS).map(({ tool_call_id, tool_name, seq, was, now }) => (
            <tr key={seq}>
              <td>
                <a
                  href={hashOf({
                    view: "session",
                    session_id,
                    tab: "timeline",
                    run_id,
                    tool_call_id,
                  })}
                >
                  <span class="mono">{visibleLine(tool_name)}</span>
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
        </tbody>
      </table>
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
