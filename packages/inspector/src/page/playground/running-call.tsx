// A call that was begun here: its questions while it waits, then its result, and the way to its session.

import { useAction } from "../api/use-action.ts";
import { Button } from "../parts/button.tsx";
import { useEffect, useState } from "preact/hooks";
import type { Called } from "../../wire/index.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/context.ts";
import { CallResult } from "../call/call-result.tsx";
import { ProblemText } from "../parts/loading.tsx";
import { QuestionList } from "../questions/question-list.tsx";
import { timelineHash } from "../route/hash-route.ts";

export function RunningCall(props: { called: Called; tool_name: string }) {
  const { tool_name } = props;
  const { session_id, run_id } = props.called;
  const { api, announce } = useInspector();
  const aborting = useAction();
  const [isOver, setOver] = useState(false);
  const isVisible = useVisible();
  const loaded = useAnswer(
    "GET /api/playground/calls/:run_id",
    { path: { run_id } },
    // Held until the call ends. A browser has few connections, so a tab in the background keeps none.
    { isPaused: !isVisible || isOver },
  );
  const ended = loaded.value;
  useEffect(() => {
    if (ended === undefined) return;
    setOver(true);
    announce(`${tool_name}: ${ended.result.status}.`);
  }, [ended]);

  const abort = () =>
    aborting.run(async () => {
      await api.ask("POST /api/runs/:run_id/abort", { path: { run_id }, body: { session_id } });
    });

  return (
    <>
      <h3>{ended === undefined ? "The call" : "The result"}</h3>
      <p>
        <a href={timelineHash({ session_id, run_id, tool_call_id: ended?.tool_call_id })}>
          See it in its session
        </a>
      </p>
      <QuestionList session_id={session_id} />
      {ended === undefined && loaded.problem === undefined && (
        <p>
          <span role="status">▶ Running, or waiting for an answer.</span>{" "}
          <Button onClick={() => void abort()}>Abort</Button>
        </p>
      )}
      {aborting.problem !== undefined && <ProblemText text={aborting.problem} />}
      {loaded.problem !== undefined && (
        <ProblemText text={loaded.problem} onRetry={loaded.reload} />
      )}
      {ended !== undefined && (
        <CallResult result={ended.result} model_view={ended.result.content} />
      )}
    </>
  );
}

/** Whether the tab is in front. */
function useVisible(): boolean {
  const [isVisible, setVisible] = useState(() => !document.hidden);
  useEffect(() => {
    const look = () => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return isVisible;
}
