// What a user does first with the installed package: make a task.

import { createMemoryTasks, createTasks } from "@soong/tasks";

const tasks = createTasks({ storage: createMemoryTasks() });
const { task } = await tasks.create(
  { actor: { kind: "orchestrator", session_id: "s1", run_id: "r1", agent_id: "a1" } },
  {
    title: "Tea",
    goal: "There is tea.",
    steps: [{ step_id: "water", title: "Boil water", instructions: "Until it boils." }],
  },
);
if (task.status !== "pending") throw new Error(task.status);
