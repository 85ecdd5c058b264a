// The tools of the cases: notes that are read, written and deleted. Each writes what it does to the log.

import type { JsonObject, PolicyInput } from "@soong/core";
import type { ScenarioTool, ScriptedCall } from "../scenario.ts";

export type Log = (entry: string) => void;

type RunNote = (id: number, ...rest: Parameters<ScenarioTool["run"]>) => Promise<unknown>;

export function readTool(log: Log, run: RunNote = async (id) => `note ${id}`): ScenarioTool {
  return noteTool(log, "read", run, { effect: "read" });
}

export function writeTool(log: Log, run: RunNote = async (id) => `wrote ${id}`): ScenarioTool {
  return noteTool(log, "write", run);
}

export function deleteTool(log: Log): ScenarioTool {
  return noteTool(log, "delete", async (id) => `deleted ${id}`);
}

/** `notes.<verb>`, with the id of a note as its input; it begins with `<verb> <id>` in the log. */
export function noteTool(
  log: Log,
  verb: string,
  run: RunNote,
  more: Partial<ScenarioTool> = {},
): ScenarioTool {
  return {
    name: `notes.${verb}`,
    description: `${verb} a note`,
    input_schema: NOTE,
    effect: "write",
    async run(input, context) {
      const { id } = input as { id: number };
      log(`${verb} ${id}`);
      return run(id, input, context);
    },
    ...more,
  };
}

const NOTE: JsonObject = {
  type: "object",
  properties: { id: { type: "integer", description: "The number of the note" } },
  required: ["id"],
  additionalProperties: false,
};

/** A call of `notes.<verb>`, with its wire name. */
export function callNote(id: string, verb: string, note: unknown): ScriptedCall {
  return { id, name: `notes__${verb}`, arguments: JSON.stringify({ id: note }) };
}

export const ALLOW_WRITES: PolicyInput = {
  rules: [
    { tool: "notes.write", decision: "allow" },
    { tool: "notes.delete", decision: "allow" },
  ],
};
