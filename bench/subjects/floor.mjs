// The least that could be done: a compiled validator and an awaited handler, with nothing recorded
// and nothing decided. `floor` gets parsed arguments, `floorJson` the text of the model and gives text back.

import { Ajv2020 } from "ajv/dist/2020.js";

/** @import { Call, Input, ToolSpec } from "../workload.mjs" */
/** @import { Subject } from "./index.mjs" */

/** @type {Subject} */
export const floor = subject(async (run, call) => run(call.input));

/** @type {Subject} */
export const floorJson = subject(async (run, call) =>
  JSON.stringify(await run(/** @type {Input} */ (JSON.parse(call.args)))),
);

/**
 * @typedef {(input: Input) => Promise<unknown>} Run
 * @param {(run: Run, call: Call) => Promise<unknown>} answer
 * @returns {Subject}
 */
function subject(answer) {
  return {
    async create({ tools, parallel }) {
      const ajv = new Ajv2020();
      const table = new Map(tools.map((tool) => [tool.name, checked(ajv, tool)]));
      /** @param {Call} call */
      const one = (call) => answer(/** @type {Run} */ (table.get(call.name)), call);
      return {
        list: () => tools.map(({ name, description, schema }) => ({ name, description, schema })),
        session: async () => ({
          turn: async (calls) => (parallel ? Promise.all(calls.map(one)) : inTurn(calls, one)),
        }),
      };
    },
  };
}

/** @param {Call[]} calls @param {(call: Call) => Promise<unknown>} one */
async function inTurn(calls, one) {
  const results = [];
  for (const call of calls) results.push(await one(call));
  return results;
}

/** Compiles on first use, as ours does: 10 000 validators at start would measure ajv only.
 * @param {Ajv2020} ajv @param {ToolSpec} tool @returns {Run} */
function checked(ajv, tool) {
  /** @type {import("ajv").ValidateFunction | undefined} */
  let validate;
  return async (input) => {
    validate ??= ajv.compile(tool.schema);
    if (!validate(input)) return { error: validate.errors };
    return tool.handler(input);
  };
}
