// Aborts a live run, after a second deliberate act.

import { useState } from "preact/hooks";
import { useInspector } from "../app/context.ts";
import { focusedOnce } from "../parts/focused.ts";
import { ProblemText } from "../parts/loading.tsx";

type Step = "idle" | "asking" | "kept" | "sending" | "sent";

export function AbortRun(props: { session_id: string; run_id: string }) {
  const { api, announce } = useInspector();
  const [step, setStep] = useState<Step>("idle");
  const [problem, setProblem] = useState<string>();

  function abort(): void {
    setStep("sending");
    setProblem(undefined);
    const { session_id, run_id } = props;
    api.ask("POST /api/runs/:run_id/abort", { path: { run_id }, body: { session_id } }).then(
      ({ run_ids }) => {
        setStep("sent");
        announce(`${run_ids.length} ${run_ids.length === 1 ? "run" : "runs"} told to stop`);
      },
      (error: unknown) => {
        setStep("kept");
        setProblem(error instanceof Error ? error.message : String(error));
      },
    );
  }

  return (
    <div class="abort">
      {(step === "idle" || step === "kept") && (
        <button
          type="button"
          class="button danger"
          {...(step === "kept" ? { ref: focusedOnce } : {})}
          onClick={() => setStep("asking")}
        >
          Abort this run…
        </button>
      )}
      {step === "asking" && (
        <p>
          Abort it and every run it started?{" "}
          <button type="button" class="button danger" onClick={abort}>
            Abort
          </button>{" "}
          <button type="button" class="button" ref={focusedOnce} onClick={() => setStep("kept")}>
            Keep it
          </button>
        </p>
      )}
      {(step === "sending" || step === "sent") && (
        <p role="status" tabIndex={-1} ref={focusedOnce}>
          {step === "sending" ? "Telling it to stop…" : "Told to stop."}
        </p>
      )}
      {problem !== undefined && <ProblemText text={problem} />}
    </div>
  );
}
