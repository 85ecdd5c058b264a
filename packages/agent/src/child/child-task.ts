// What a child receives: its task as its first message, and where it is as system text.

import {
  compileSchema,
  readSchema,
  type JsonSchema,
  type JsonValue,
  type ValidationIssue,
} from "@soong/core";
import type { AgentDefinition } from "./agent-catalog.ts";

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

// The form a child's answer has to have, when its caller names one (AGENT-4): sent to the child beforehand, checked after,
// and a wrong answer is sent back once before it counts as a failure.

export interface ExpectedOutput {
  /** For the prompt. */
  readonly wanted: string;
  read(answer: string): ReadOutput;
  /** What the child reads about an answer that does not fit. */
  requestCorrection(answer: string): string | undefined;
}

type ReadOutput =
  | { readonly ok: true; readonly output: JsonValue }
  | { readonly ok: false; readonly why: string };

const MOST_ISSUES = 20;

/** Or what is wrong with the schema. */
export function compileExpectedOutput(
  given: unknown,
): ExpectedOutput | { readonly problem: string } {
  const schema = readSchema(given);
  if (!schema.ok) {
    const problems = schema.problems.map(({ pointer, message }) => `${pointer || "it"} ${message}`);
    return { problem: problems.join("; ") };
  }
  const { original } = schema;
  const check = compileSchema(original);
  const wanted = describeWantedOutput(original);
  return { wanted, read, requestCorrection };

  function read(answer: string): ReadOutput {
    const parsed = parseJsonAnswer(answer);
    if (!parsed.ok) return parsed;
    const checked = check(parsed.output);
    if (checked.ok) return parsed;
    const lines = checked.issues.slice(0, MOST_ISSUES).map(describeIssue);
    return { ok: false, why: `\n${lines.join("\n")}` };
  }

  function requestCorrection(answer: string): string | undefined {
    const found = read(answer);
    if (found.ok) return undefined;
    return `Your answer does not have the form that was asked for: ${found.why}\n\nAnswer once more. ${wanted}`;
  }
}

function describeIssue({ path, message }: ValidationIssue): string {
  return `- ${path === "" ? "the value" : path}: ${message}`;
}

function describeWantedOutput(schema: JsonSchema): string {
  return `Your last message has to be one JSON value and nothing else, which fits this JSON Schema:\n${JSON.stringify(schema)}`;
}

/** The whole answer, or the one fenced block in it. */
function parseJsonAnswer(answer: string): ReadOutput {
  const whole = answer.trim();
  const only = findOnlyBlock(whole);
  for (const text of [whole, ...(only === undefined ? [] : [only])]) {
    try {
      return { ok: true, output: JSON.parse(text) as JsonValue };
    } catch {
      // The next one may be it.
    }
  }
  return { ok: false, why: whole === "" ? "it is empty." : "it is not JSON." };
}

/** Line by line, once: an answer of a megabyte of fences costs no more than any other. Blocks of other languages are none. */
function findOnlyBlock(text: string): string | undefined {
  const lines = text.split("\n").map((line) => line.trimEnd());
  const found: string[] = [];
  let open: { readonly from: number; readonly isJson: boolean } | undefined;
  for (const [at, line] of lines.entries()) {
    if (open === undefined) {
      if (line.startsWith("```")) open = { from: at + 1, isJson: /^```(?:json)?$/.test(line) };
    } else if (line === "```") {
      if (open.isJson) found.push(lines.slice(open.from, at).join("\n"));
      open = undefined;
    }
  }
  return found.length === 1 ? found[0] : undefined;
}
