// agent.list_workers and agent.dispatch_worker, as an orchestrator sees them.

import { type AnyTool, type JsonSchema, defineTool, toolResult } from "@soong/core";
import type { AgentParts } from "./start-child.ts";
import { type DispatchInput, dispatchWorker } from "./dispatch-worker.ts";
import { ALLOWED_TOOLS_FIELD, SPAWN_TOOL } from "./spawn-tools.ts";

export function listWorkersTool({ workers }: AgentParts): AnyTool {
  return defineTool({
    name: "agent.list_workers",
    title: "List the workers",
    description:
      "Lists the worker pools and their workers: which are idle, and what the busy ones work on.",
    search_hint: "idle busy worker pools",
    permission: "readonly",
    concurrency_safe: true,
    tags: ["agent"],
    input_schema: { type: "object", additionalProperties: false, properties: {} },
    handler: () => {
      const pools = workers.states();
      const lines = pools.flatMap(({ pool, idle, busy, workers: those }) => [
        `${pool}: ${idle} idle, ${busy} busy`,
        ...those.flatMap((one) =>
          one.state === "idle"
            ? []
            : [
                `- ${one.worker} works on ${[one.task_id, one.step_id].filter(Boolean).join(", step ")}`,
              ],
        ),
      ]);
      const text =
        lines.length === 0 ? "There are no worker pools: none is configured." : lines.join("\n");
      return toolResult({ content: [{ type: "text", text }], data: { pools } });
    },
  });
}

export function dispatchWorkerTool(parts: AgentParts): AnyTool {
  return defineTool({
    ...SPAWN_TOOL,
    name: "agent.dispatch_worker",
    title: "Dispatch a worker",
    search_hint: "send task step to worker",
    description:
      "Gives a task, or one ready step of it, to an idle worker and waits until its run has ended. Dispatches next to each other run at the same time. A pool whose workers are all busy says so at once. The result says what the task has on record of the step, which counts, and what the worker says.",
    input_schema: {
      type: "object",
      additionalProperties: false,
      required: ["task_id"],
      properties: {
        pool: { type: "string", minLength: 1, description: "Any idle worker of it." },
        worker: {
          type: "string",
          minLength: 1,
          description: 'That very worker, such as "builders/2".',
        },
        task_id: { type: "string", minLength: 1 },
        step_id: {
          type: "string",
          minLength: 1,
          description:
            "A ready step: it is claimed for the worker. Default: the worker claims one itself.",
        },
        instructions: {
          type: "string",
          maxLength: 100_000,
          description: "What the worker has to know beside what the task says.",
        },
        allowed_tools: {
          ...ALLOWED_TOOLS_FIELD,
          items: { ...ALLOWED_TOOLS_FIELD.items },
          description:
            "Tools it gets beside those for its task. Default: those of its pool, or the file tools that only read. Tools that change something have to be named.",
        },
      } as const satisfies Record<keyof DispatchInput, JsonSchema>,
    },
    validate: (input) => {
      const { pool, worker } = input;
      if ((pool === undefined) !== (worker === undefined)) return undefined;
      return pool === undefined ? "name a pool or a worker" : "name a pool or a worker, not both";
    },
    handler: (input, context) => dispatchWorker(parts, input, context),
  });
}
