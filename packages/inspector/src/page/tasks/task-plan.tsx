// The plan of one task: drawn, or as a table, with the record of the step that is chosen.

import { Prose } from "../parts/text.tsx";
import { useMemo, useRef, useState } from "preact/hooks";
import type { StepRow, TaskGraph } from "../../wire/index.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/context.ts";
import { SignMark } from "../parts/signs.tsx";
import { ChoiceButtons, LinkButton } from "../parts/button.tsx";
import { LoadState } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";
import { hashOf, timelineHash } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { type Drawing, drawPlan } from "./layout.ts";
import { PlanDrawing } from "./plan-drawing.tsx";
import { StepRecord } from "./step-record.tsx";
import { Table } from "../parts/table.tsx";

export function TaskPlan(props: { task_id: string }) {
  const { task_id } = props;
  const { home } = useInspector();
  const version = useStore(home, (state) => state?.tasks_version ?? 0);
  const loaded = useAnswer("GET /api/tasks/:task_id", { path: { task_id } }, { version });
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
        <a href={timelineHash({ session_id: task.session_id })}>Its session</a>
      </p>
      <p>
        Steps: <Counts counts={task.counts} />
      </p>
      <Prose text={task.goal} isQuiet />
      <Prose text={task.reason} />
      <Prose text={task.summary} />
      <PlanProblems drawing={drawing} />
      <div class="plan-look" role="group" aria-label="How it is shown">
        <ChoiceButtons
          choices={{ drawing: "Drawing", table: "Table" }}
          chosen={look}
          onChoose={setLook}
        />
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
    ...circular.map(({ from, to }) => `${to} depends on ${from}, which makes a cycle.`),
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

/** Steps by status. */
export function Counts(props: { counts: Readonly<Record<string, number>> }) {
  const shown = Object.entries(props.counts).filter(([, count]) => count > 0);
  return (
    <span class="counts">
      {shown.length === 0 && <span class="quiet">none</span>}
      {shown.map(([status, count]) => (
        <span key={status}>
          {count} <SignMark state={status} />
        </span>
      ))}
    </span>
  );
}

/** The same steps for those who do not look at drawings. */
export function PlanTable(props: {
  steps: readonly StepRow[];
  chosen: string | undefined;
  onChoose: (step_id: string) => void;
}) {
  return (
    <div class="plan-room">
      <Table
        head={["Step", "Status", "Depends on", "Tries", "Worker"]}
        caption="The steps of the task"
      >
        {props.steps.map((step) => (
          <tr key={step.step_id} class={step.step_id === props.chosen ? "decisive" : undefined}>
            <td>
              <LinkButton
                aria-pressed={step.step_id === props.chosen}
                onClick={() => props.onChoose(step.step_id)}
              >
                {visibleLine(step.title)}
              </LinkButton>
            </td>
            <td>
              <SignMark state={step.status} />
            </td>
            <td class="mono">{visibleLine(step.depends_on.join(", "))}</td>
            <td>
              {step.attempts} of {step.max_attempts}
            </td>
            <td class="mono">{visibleLine(step.claimed_by ?? "")}</td>
          </tr>
        ))}
      </Table>
    </div>
  );
}
