// Our own kernel, whole: surface, validation, policy, scheduler, results, every fact recorded in memory.
// The only file of the bench that knows the kernel's API.

import { createKernel, defineTool, PORTABLE_PROFILE } from "@soong/core";

/** @import { Run } from "@soong/core" */
/** @import { Call, ToolSpec } from "../workload.mjs" */
/** @import { Session, Subject } from "./index.mjs" */

// Every tool is offered at once, as the peers do; else most of 10 000 would be deferred.
const profile = { ...PORTABLE_PROFILE, max_tools: Number.MAX_SAFE_INTEGER };
const tools = { defer_budget_tokens: Number.MAX_SAFE_INTEGER };

/** @type {Subject} */
export const soong = {
  async create({ tools: specs, parallel }) {
    const kernel = createKernel({
      tools: specs.map(toSoong),
      config: { tools: parallel ? { ...tools, max_concurrency: specs.length * 100 } : tools },
    });
    const start = () => kernel.startRun({ profile });
    /** @type {Run | undefined} */
    let listed;
    return {
      resolve: async () => (await start()).end("completed"),
      async list() {
        listed ??= await start();
        return (await listed.tools()).tools;
      },
      session: async () => sessionOf(await start()),
    };
  },
};

/** @param {ToolSpec} spec */
export function toSoong(spec) {
  return defineTool({
    name: spec.name,
    description: spec.description,
    input_schema: spec.schema,
    permission: "readonly",
    concurrency_safe: true,
    handler: spec.handler,
  });
}

/** @param {Run} run @returns {Session} */
function sessionOf(run) {
  return {
    turn: (calls) => run.execute(calls.map(toSoongCall)),
    openTurn() {
      const turn = run.openTurn();
      return {
        push: (call) => void turn.push(toSoongCall(call)),
        end: () => turn.end(),
        results: () => turn.settled(),
      };
    },
    close: () => run.end("completed"),
  };
}

/** @param {Call} call */
const toSoongCall = (call) => ({ id: call.id, name: call.wireName, arguments: call.args });
