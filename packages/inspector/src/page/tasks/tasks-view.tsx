// Tasks: the list of them, and the plan of one. Asked again whenever a task or a step changed.

import { Table } from "../parts/table.tsx";
import { useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/context.ts";
import { SignMark } from "../parts/signs.tsx";
import { LoadState } from "../parts/loading.tsx";
import { momentText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { hashOf } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { Counts, TaskPlan } from "./task-plan.tsx";

export function TasksView(props: { task_id?: string }) {
  const { about } = useInspector();
  if (!about.can.tasks) {
    return (
      <section class="view">
        <h1>Tasks</h1>
        <p>This inspector was started without tasks.</p>
      </section>
    );
  }
  return (
    <section class="view tasks">
      {props.task_id === undefined ? (
        <TaskTable />
      ) : (
        <TaskPlan key={props.task_id} task_id={props.task_id} />
      )}
    </section>
  );
}

const MOST_TASKS = 500;

function TaskTable() {
  const { home } = useInspector();
  const version = useStore(home, (state) => state?.tasks_version ?? 0);
  const loaded = useAnswer("GET /api/tasks", {}, { version });
  const tasks = loaded.value?.tasks;
  return (
    <>
      <h1>Tasks</h1>
      <LoadState loaded={loaded} what="the tasks" />
      {tasks?.length === 0 && <p class="quiet">There are no tasks.</p>}
      {tasks !== undefined && tasks.length > 0 && (
        <Table head={["Task", "Status", "Steps", "Changed"]}>
          {tasks.slice(0, MOST_TASKS).map((task) => (
            <tr key={task.task_id}>
              <td>
                <a href={hashOf({ view: "tasks", task_id: task.task_id })}>
                  {visibleLine(task.title)}
                </a>
                <div class="quiet mono task-id">{visibleLine(task.task_id)}</div>
              </td>
              <td>
                <SignMark state={task.status} />
                {task.reason !== undefined && <div class="quiet">{visibleLine(task.reason)}</div>}
              </td>
              <td>
                <Counts counts={task.counts} />
              </td>
              <td>{momentText(Date.parse(task.updated_at), Date.now())}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
