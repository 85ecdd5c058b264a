// How to plan a task: what agent.task_template adds to the conversation of the caller.

import { TASK_LIMITS } from "./limits.ts";

export const TEMPLATE = `How to plan and run a task

1. Say what done means. The goal is one paragraph: the outcome, how it can be checked, what is out of scope.
2. Cut it into steps a worker can do alone. A worker sees its own step and what it looks up, not this conversation: each step's instructions name the files, the inputs, the limits and what to leave untouched. expected_output says what the result has to hold.
3. depends_on only where a step needs what another one makes. Steps without a dependency between them run at the same time, so two of them must not write the same files.
4. End with a step that checks the whole: tests, a review, a comparison with the goal.
5. Create it with agent.task_create. Step ids are short words of your own ("design", "api", "tests"); statuses follow from the dependencies and cannot be given.
6. Give ready steps to workers. What the task says of a step counts, not what a worker says in prose: look at agent.task_get before you continue.
7. When a step fails, read why. Improve its instructions (update_step) and retry_step, split it, or cancel_step what is no longer needed, all in one agent.task_update. When a step is blocked, remove what blocks it and unblock_step.
8. agent.task_complete when every step is completed or cancelled; agent.task_fail when the goal cannot be reached; agent.task_cancel when it is no longer wanted.

A task in outline:
title: <one line, up to ${TASK_LIMITS.titleChars} characters>
goal: <outcome, how to check it, what is out of scope>
steps:
- step_id: <word>, title: <one line>, instructions: <what to do, where, with what>, expected_output: <what the result holds>, depends_on: [<step ids>]`;
