// The tasks module: tasks and their steps in the tables. Knows rows; what they mean is decided elsewhere.

export { createTaskTables } from "./task-tables.ts";
