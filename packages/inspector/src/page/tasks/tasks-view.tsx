// Tasks: the list of them, and the plan of one, drawn and as rows, with the record of the step that is chosen. Asked
// again whenever a task or a step changed.

import { visibleLine } from "@soong/core";
import { useMemo, useRef, useState } from "preact/hooks";
import type { StepRow, TaskGraph, TaskRow } from "../../wire/home-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { LinkButton } from "../parts/button.tsx";
import { Pairs, Table } from "../parts/list.tsx";
import { SignMark } from "../parts/signs.tsx";
import { CutText, Loaded, Mono, Prose } from "../parts/text.tsx";
import { clockText, durationText, recordedMoment, useClock } from "../parts/time.ts";
import { writeHash, linkToTimeline } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { type Drawing, drawPlan } from "./layout.ts";
import { PlanDrawing, type StepChoice } from "./plan-drawing.tsx";

export function TasksView({ task_id }: { task_id: string | undefined }) {
  const version = useStore(useInspector().home, (state) => state?.tasks_version ?? 0);
  return (
    <section class="view tasks">
      {task_id === undefined ? (
        <TaskTable version={version} />
      ) : (
        <TaskPlan key={task_id} task_id={task_id} version={version} />
      )}
    </section>
  );
}

const MOST_TASKS = 500;

function TaskTable({ version }: { version: number }) {
  const loaded = useAnswer("GET /api/tasks", {}, { version });
  return (
    <>
      <h1>Tasks</h1>
      <Loaded from={loaded} what="the tasks">
        {({ tasks }) =>
          tasks.length === 0 ? (
            <p class="quiet">There are no tasks.</p>
          ) : (
            <Table
              head={["Task", "Status", "Steps", "Changed"]}
              rows={tasks.slice(0, MOST_TASKS)}
              cells={({ task_id, title, status, reason, counts, updated_at }) => [
                <>
                  <a href={writeHash({ view: "tasks", task_id })}>{visibleLine(title)}</a>
                  <div class="quiet mono task-id">{visibleLine(task_id)}</div>
                </>,
                <>
                  <SignMark state={status} />
                  {reason !== undefined && <div class="quiet">{visibleLine(reason)}</div>}
                </>,
                <Counts counts={counts} />,
                recordedMoment(updated_at),
              ]}
            />
          )
        }
      </Loaded>
    </>
  );
}

function TaskPlan({ task_id, version }: { task_id: string; version: number }) {
  const loaded = useAnswer("GET /api/tasks/:task_id", { path: { task_id } }, { version });
  return (
    <>
      <p>
        <a href={writeHash({ view: "tasks" })}>← All tasks</a>
      </p>
      <Loaded from={loaded} what="the task">
        {(graph) => <Plan graph={graph} />}
      </Loaded>
    </>
  );
}

function Plan({ graph: { task, steps } }: { graph: TaskGraph }) {
  const [chosen, setChosen] = useState<string>();
  const drawing = useDrawing(steps);
  const step = steps.find(({ step_id }) => step_id === chosen);
  const shared = { steps, chosen, onChoose: setChosen };
  return (
    <>
      <h1>{visibleLine(task.title)}</h1>
      <p>
        <SignMark state={task.status} /> <span class="quiet">{visibleLine(task.task_id)}</span>{" "}
        <a href={linkToTimeline({ session_id: task.session_id })}>Its session</a>
      </p>
      <p>
        Steps: <Counts counts={task.counts} />
      </p>
      <Prose text={task.goal} isQuiet />
      <Prose text={task.reason} />
      <Prose text={task.summary} />
      <PlanProblems drawing={drawing} />
      <div class="plan">
        <div class="plan-parts">
          <PlanDrawing drawing={drawing} {...shared} />
          <PlanTable {...shared} />
        </div>
        {step && <StepRecord step={step} steps={steps} onChoose={setChosen} />}
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

const MOST_PROBLEMS = 20;

function PlanProblems({ drawing: { circular, missing } }: { drawing: Drawing }) {
  const lines = [
    ...missing.map(({ from, to }) => `${to} depends on ${from}, which is not in the plan.`),
    ...circular.map(({ from, to }) => `${to} depends on ${from}, which makes a cycle.`),
  ];
  if (lines.length === 0) return null;
  return (
    <ul class="problem">
      {lines.slice(0, MOST_PROBLEMS).map((line) => (
        <li key={line}>⚠ {visibleLine(line)}</li>
      ))}
      {lines.length > MOST_PROBLEMS && <li>… and {lines.length - MOST_PROBLEMS} more</li>}
    </ul>
  );
}

/** Steps by status. */
function Counts({ counts }: Pick<TaskRow, "counts">) {
  const shown = Object.entries(counts).filter(([, count]) => count > 0);
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

/** The same steps as rows, in the order of the plan. */
function PlanTable(props: StepChoice) {
  const isChosen = ({ step_id }: StepRow) => step_id === props.chosen;
  const now = useClock(props.steps.some(isUnderWay) ? 1_000 : undefined);
  const titles = useMemo(
    () => new Map(props.steps.map(({ step_id, title }) => [step_id, title])),
    [props.steps],
  );
  return (
    <div class="plan-rows">
      <Table
        class="step-rows"
        caption="The steps of the task"
        head={["Step", "Status", "Depends on", "Tries", "Worker", "Time"]}
        rows={props.steps}
        isMarked={isChosen}
        cells={(step) => [
          <LinkButton aria-pressed={isChosen(step)} onClick={() => props.onChoose(step.step_id)}>
            {visibleLine(step.title)}
          </LinkButton>,
          <SignMark state={step.status} />,
          visibleLine(step.depends_on.map((id) => titles.get(id) ?? id).join(", ")),
          step.attempts === 0 ? "" : `${step.attempts} of ${step.max_attempts}`,
          <Mono text={step.claimed_by} />,
          takenTime(step, now),
        ]}
      />
    </div>
  );
}

function isUnderWay({ started_at, ended_at }: StepRow): boolean {
  return started_at !== undefined && ended_at === undefined;
}

function takenTime(step: StepRow, now: number): string {
  const { started_at, ended_at } = step;
  if (started_at === undefined) return "";
  const until = ended_at === undefined ? now : Date.parse(ended_at);
  return durationText(Math.max(0, until - Date.parse(started_at)));
}

/** What is to be done, who works on it until when, how often it was tried, what came of it. */
function StepRecord({ step, ...choice }: Omit<StepChoice, "chosen"> & { step: StepRow }) {
  const { steps } = choice;
  const { step_id, depends_on, claimed_by, lease_until, started_at, ended_at } = step;
  const after = steps.filter((other) => other.depends_on.includes(step_id));
  const linksTo = (ids: readonly string[]) => ids.length > 0 && <StepLinks {...choice} ids={ids} />;
  const prose = (text: string | undefined) =>
    text !== undefined && (
      <span class="prose">
        <CutText key={text} text={text} />
      </span>
    );
  return (
    <aside class="step-record" aria-label={`Step ${step.title}`}>
      <h2>{visibleLine(step.title)}</h2>
      <p>
        <SignMark state={step.status} /> <span class="quiet mono">{visibleLine(step_id)}</span>
      </p>
      <Prose text={step.instructions} />
      <Pairs
        pairs={[
          ["Depends on", linksTo(depends_on)],
          ["Needed by", linksTo(after.map(({ step_id }) => step_id))],
          ["Worker", claimed_by && <Mono text={claimed_by} />],
          ["Lease until", lease_until && clockText(Date.parse(lease_until))],
          ["Attempts", `${step.attempts} of ${step.max_attempts}`],
          ["Note", prose(step.note)],
          ["Because", prose(step.reason)],
          ["Failure", prose(step.failure)],
          ["Result", prose(step.summary)],
          ["Started", recordedMoment(started_at)],
          ["Ended", recordedMoment(ended_at)],
        ]}
      />
    </aside>
  );
}

const MOST_LINKS = 50;

function StepLinks(props: Omit<StepChoice, "chosen"> & { ids: readonly string[] }) {
  const { ids, steps } = props;
  return (
    <ul class="plain">
      {ids.slice(0, MOST_LINKS).map((id) => {
        const step = steps.find(({ step_id }) => step_id === id);
        return (
          <li key={id}>
            {step === undefined ? (
              <span class="mono">{visibleLine(id)} (not in the plan)</span>
            ) : (
              <LinkButton onClick={() => props.onChoose(id)}>{visibleLine(step.title)}</LinkButton>
            )}
          </li>
        );
      })}
      {ids.length > MOST_LINKS && <li>… and {ids.length - MOST_LINKS} more</li>}
    </ul>
  );
}
