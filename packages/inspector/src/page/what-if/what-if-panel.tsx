// What if: a rule that is typed, or another config file, tried on one stored run or on all of them; and a rule that was tried can be
// written to the user's config.

import { visibleLine } from "@soong/core";
import { useRef, useState } from "preact/hooks";
import type { WhatIf } from "../../wire/home-records.ts";
import type { RuleChecked, RuleTyped, WhatIfAllAsked } from "../../wire/policy-records.ts";
import { isAbort } from "../api/client.ts";
import { useAction } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { Button, ChoiceButtons } from "../parts/button.tsx";
import { TextField } from "../parts/input.tsx";
import { ProblemText } from "../parts/text.tsx";
import { EMPTY_DRAFT, readDraft, RuleForm } from "../policy/rule-form.tsx";
import { AllRunsReport } from "./all-runs-report.tsx";
import { NO_RUNS, tryOnAllRuns, type AllRuns } from "./all-runs.ts";
import { RunReport } from "./run-report.tsx";
import { WriteRule } from "./write-rule.tsx";

/** What was tried, as it was then. */
interface Tried {
  asked: Omit<WhatIfAllAsked, "after">;
  rule?: RuleTyped;
  decision?: RuleChecked["decision"];
}

export function WhatIfPanel(props: {
  /** Default: all runs. */
  run_id?: string;
  begin: "rule" | "config";
  onWritten?: () => void;
}) {
  const { run_id } = props;
  const { api, about } = useInspector();
  const [kind, setKind] = useState(about.can.policy ? props.begin : "config");
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [file, setFile] = useState("");
  const [checked, setChecked] = useState<RuleChecked>();
  const [tried, setTried] = useState<Tried>();
  const [report, setReport] = useState<WhatIf>();
  const [all, setAll] = useState<AllRuns>();
  const stop = useRef<AbortController | undefined>(undefined);
  const { isRunning, problem, run } = useAction();
  const isEmpty = kind === "config" && file.trim() === "";

  function begin(): void {
    setReport(undefined);
    setAll(undefined);
    setTried(undefined);
    void run(async () => {
      const next: Tried = kind === "config" ? { asked: { config_file: file } } : await checkRule();
      if (next.asked.rule === undefined && next.asked.config_file === undefined) return;
      setTried(next);
      if (run_id === undefined) await tryAll(next, NO_RUNS);
      else setReport(await api.ask("POST /api/what-if", { body: { run_id, ...next.asked } }));
    });
  }

  async function checkRule(): Promise<Tried> {
    const rule = readDraft(draft);
    const answer = await api.ask("POST /api/policy/rule/check", { body: rule });
    setChecked(answer);
    if (answer.problems.length > 0) return { asked: {} };
    return { asked: { rule }, rule, decision: answer.decision };
  }

  async function tryAll({ asked }: Tried, from: AllRuns): Promise<void> {
    const abort = new AbortController();
    stop.current = abort;
    setAll(from);
    try {
      await tryOnAllRuns({
        from,
        asked,
        ask: (body) => api.ask("POST /api/what-if/all", { body, signal: abort.signal }),
        onProgress: setAll,
      });
    } catch (error) {
      if (!isAbort(error)) throw error;
    } finally {
      stop.current = undefined;
    }
  }

  return (
    <>
      <form
        class="what-if-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isEmpty && !isRunning) begin();
        }}
      >
        {about.can.policy && (
          <p role="group" aria-label="What is tried">
            <ChoiceButtons
              choices={{ rule: "One more rule", config: "Another config file" }}
              chosen={kind}
              onChoose={setKind}
            />
          </p>
        )}
        {kind === "rule" ? (
          <RuleForm
            draft={draft}
            problems={checked?.problems ?? []}
            onChange={(next) => {
              setDraft(next);
              setChecked(undefined);
            }}
          />
        ) : (
          <TextField
            name={`Config file; a relative path is taken from ${visibleLine(about.cwd)}`}
            class="mono"
            autocomplete="off"
            spellcheck={false}
            placeholder="strict.toml"
            value={file}
            onText={setFile}
          />
        )}
        <p>
          <button type="submit" class="button primary" disabled={isEmpty || isRunning}>
            {run_id === undefined ? "Try on all recorded runs" : "Compare"}
          </button>{" "}
          {isRunning && run_id === undefined && (
            <Button onClick={() => stop.current?.abort()}>Stop</Button>
          )}
        </p>
      </form>
      <div aria-live="polite">
        {isRunning && <p class="quiet">Evaluating what was recorded again…</p>}
        <ProblemText text={problem} />
        {report && <RunReport report={report} />}
        {all && tried && (
          <AllRunsReport
            all={all}
            isRunning={isRunning}
            onContinue={() => void run(() => tryAll(tried, all))}
          />
        )}
      </div>
      {tried?.rule !== undefined && !isRunning && problem === undefined && (
        <WriteRule
          key={JSON.stringify(tried.rule)}
          rule={tried.rule}
          allowed={tried.decision === "allow" ? (all?.groups ?? []) : undefined}
          onWritten={props.onWritten}
        />
      )}
    </>
  );
}
