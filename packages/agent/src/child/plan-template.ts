// agent.plan_template (PLAN-1): how a plan is written, as a node of the conversation. It writes nothing anywhere.

import { defineTool, toolResult, type AnyTool } from "@soong/core";

const TEMPLATE = `How to write a plan. Fill in each part, in this order, and omit none; write "none" where there is nothing.

1. Goal: in one or two sentences, what will be true when this is done, and how a user can check that it is.
2. What is known: facts you have read yourself, each with where (file and line, command, page). Mark what you only suppose.
3. Open questions: what you do not know and who or what can answer it. Ask the user only what no tool can answer.
4. Steps: numbered, each small enough to be checked on its own. For each: what changes and where, what it depends on, how it is checked, and whether it can run beside others.
5. What could go wrong: for each risk, how it would be noticed and what would then be done; what cannot be taken back.
6. Not part of this: what a reader might expect and you will not do.

A plan is text. It changes nothing and allows nothing: each step is judged when it is done.`;

export function planTemplateTool(): AnyTool {
  return defineTool({
    name: "agent.plan_template",
    title: "Get the form of a plan",
    search_hint: "how to write a plan",
    description:
      "Puts the form of a good plan into the conversation: goal, what is known, open questions, steps, risks. Call it before you write a plan. It writes nothing.",
    permission: "readonly",
    concurrency_safe: true,
    tags: ["agent"],
    input_schema: { type: "object", additionalProperties: false, properties: {} },
    handler: () =>
      toolResult({
        content: [{ type: "text", text: "The form of a plan follows. Write yours after it." }],
        context_nodes: [{ kind: "plan_instruction", text: TEMPLATE }],
      }),
  });
}
