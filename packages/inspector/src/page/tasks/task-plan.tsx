// The plan of one task: drawn, or as a table, with the record of the step that is chosen.

import { useMemo, useRef, useState } from "preact/hooks";
import type { StepRow, TaskGraph } from "../../wire/index.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { useInspector } from "../app/context.ts";
import { SignMark } from "../call/sign-mark.tsx";
import { LookButtons } from "../parts/look-buttons.tsx";
import { CutText } from "../parts/cut-text.tsx";
import { LoadState } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";
import { hashOf } from "../route/hash-route.ts";
import { useStore } from "../state/use-store.ts";
import { drawPlan, type Drawing } from "./layout.ts";
import { PlanDrawing } from "./plan-drawing.tsx";
import { PlanTable } from "./plan-table.tsx";
import { StepRecord } from "./step-record.tsx";
import { Counts } from "./counts.tsx";

export function TaskPlan(props: { task_id: string }) {
  const { task_id } = props;
  const { api, home } = useInspector();
  const version = useStore(home, (state) => state?.tasks_version ?? 0);
  const loaded = useLoaded(
    (signal) => api.ask("GET /api/tasks/:task_id", { path: { task_id }, signal }),
    task_id,
    version,
  );
  return (
    <>
      <p>
        <a href={hashOf({ view: "tasks" })}>← All tasks</a>
      </p>
      <LoadState loaded={loaded} what="the task" />
      {loaded.value !== undefined && <Plan graph={loaded.value} />}
    </>
  );
}

function Plan(props: { graph: TaskGraph }) {
  const { task, steps } = props.graph;
  const [look, setLook] = useState<"drawing" | "table">("drawing");
  const [chosen, setChosen] = useState<string>();
  const drawing = useDrawing(steps);
  const step = steps.find(({ step_id }) => step_id === chosen);
  return (
    <>
      <h1>{visibleLine(task.title)}</h1>
      <p>
        <SignMark state={task.status} /> <span class="quiet">{visibleLine(task.task_id)}</span>{" "}
        <a href={hashOf({ view: "session", session_id: task.session_id, tab: "timeline" })}>
          Its session
        </a>
      </p>
      <p>
        Steps: <Counts counts={task.counts} />
      </p>
      {task.goal !== "" && (
        <p class="prose quiet">
          <CutText text={task.goal} />
        </p>
      )}
      {task.reason !== undefined && (
        <p class="prose">
          <CutText text={task.reason} />
        </p>
      )}
      {task.summary !== undefined && (
        <p class="prose">
          <CutText text={task.summary} />
        </p>
      )}
      <PlanProblems drawing={drawing} />
      <div class="plan-look" role="group" aria-label="How it is shown">
        <LookButtons looks={{ drawing: "Drawing", table: "Table" }} shown={look} onShow={setLook} />
      </div>
      <div class="plan">
        {look === "drawing" ? (
          <PlanDrawing drawing={drawing} steps={steps} chosen={chosen} onChoose={setChosen} />
        ) : (
          <PlanTable steps={steps} chosen={chosen} onChoose={setChosen} />
        )}
        {step !== undefined && <StepRecord step={step} steps={steps} onChoose={setChosen} />}
      </div>
    </>
  );
}

/** Drawn again only when there are other steps or dependencies: a status moves nothing. */
function useDrawing(steps: readonly StepRow[]): Drawing {
  const last = useRef<Drawing | undefined>(undefined);
  const shape = JSON.stringify(steps.map(({ step_id, depends_on }) => [step_id, depends_on]));
  return useMemo(() => {
    last.current = drawPlan(steps, last.current);
    return last.current;
  }, [shape]);
}

function PlanProblems(props: { drawing: Drawing }) {
  const { circular, missing } = props.drawing;
  const lines = [
    ...missing.map(({ from, to }) => `${to} depends on ${from}, which is not in the plan.`),
    ...circular.map(({ from, to }) => `${to} depends on ${from}, which closes a circle.`),
  ];
  if (lines.length === 0) return null;
  return (
    <ul class="problem">
      {lines.slice(0, 20).map((line) => (
        <li key={line}>⚠ {visibleLine(line)}</li>
      ))}
      {lines.length > 20 && <li>… and {lines.length - 20} more</li>}
    </ul>
  );
}
