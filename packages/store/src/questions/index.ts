// The questions room: what a person was asked, and what they answered, in a table.

export { createQuestionTable } from "./question-table.ts";
