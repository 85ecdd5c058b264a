// A call that was begun here: its questions while it waits, then its result, and the way to its session.

import { useEffect, useState } from "preact/hooks";
import type { Called } from "../../wire/index.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { useInspector } from "../app/context.ts";
import { CallResult } from "../call/call-result.tsx";
import { ProblemText } from "../parts/loading.tsx";
import { useVisible } from "../parts/use-visible.ts";
import { QuestionList } from "../questions/question-list.tsx";
import { hashOf } from "../route/hash-route.ts";

export function RunningCall(props: { called: Called; tool_name: string }) {
  const { tool_name } = props;
  const { session_id, run_id } = props.called;
  const { api, announce } = useInspector();
  const [abortProblem, setAbortProblem] = useState<string>();
  const [isOver, setOver] = useState(false);
  const isVisible = useVisible();
  const loaded = useLoaded(
    // Held until the call ends. A browser has few connections, so a tab in the background keeps none.
    isVisible && !isOver
      ? (signal) => api.ask("GET /api/playground/calls/:run_id", { path: { run_id }, signal })
      : undefined,
    run_id,
  );
  const ended = loaded.value;
  useEffect(() => {
    if (ended === undefined) return;
    setOver(true);
    announce(`${tool_name}: ${ended.result.status}.`);
  }, [ended]);

  async function abort(): Promise<void> {
    setAbortProblem(undefined);
    try {
      await api.ask("POST /api/runs/:run_id/abort", { path: { run_id }, body: { session_id } });
    } catch (error) {
      setAbortProblem(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <>
      <h3>{ended === undefined ? "The call" : "The result"}</h3>
      <p>
        <a
          href={hashOf({
            view: "session",
            session_id,
            tab: "timeline",
            run_id,
            tool_call_id: ended?.tool_call_id,
          })}
        >
          See it in its session
        </a>
      </p>
      <QuestionList session_id={session_id} />
      {ended === undefined && loaded.problem === undefined && (
        <p>
          <span role="status">▶ It runs, or waits for an answer.</span>{" "}
          <button type="button" class="button" onClick={() => void abort()}>
            Abort
          </button>
        </p>
      )}
      {abortProblem !== undefined && <ProblemText text={abortProblem} />}
      {loaded.problem !== undefined && (
        <ProblemText text={loaded.problem} onRetry={loaded.reload} />
      )}
      {ended !== undefined && (
        <CallResult result={ended.result} model_view={ended.result.content} />
      )}
    </>
  );
}
