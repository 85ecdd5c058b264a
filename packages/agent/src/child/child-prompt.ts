// What a child is told: its task as its first message, and where it stands as system text.

import type { AgentDefinition } from "./agent-definition.ts";
import type { ExpectedOutput } from "./expected-output.ts";

export type ChildRole = "sub" | "fork" | "worker";

export interface ChildTask {
  readonly role: ChildRole;
  readonly definition: AgentDefinition;
  readonly task: string;
  /** Sub agents have no other. */
  readonly context?: string;
  readonly expected?: ExpectedOutput;
}

const CHILD_RULES = [
  "Another agent has started you and reads your last message, and no one else does: you cannot ask questions, and you cannot start agents yourself.",
  "A call that is denied stays denied: do without it, or say in your answer what could not be done.",
].join(" ");

const ANSWER_FORM =
  'Your last message is your whole result. Begin it with a short summary; where there are single findings, put a line "Findings:" after it and one line beginning with "- " for each.';

/** A fork keeps the system text of the conversation it has read. */
export function buildChildSystem(
  base: readonly string[],
  { role, definition }: ChildTask,
): string[] {
  return role === "fork" ? [...base] : [...base, `${definition.system}\n\n${CHILD_RULES}`];
}

export function buildChildPrompt({ role, definition, task, context, expected }: ChildTask): string {
  const parts = [
    ...(role === "fork" ? [`${definition.system}\n\n${CHILD_RULES}`] : []),
    `Your task:\n${task}`,
    ...(context === undefined ? [] : [`Context:\n${context}`]),
    expected === undefined ? ANSWER_FORM : expected.wanted,
  ];
  return parts.join("\n\n");
}
