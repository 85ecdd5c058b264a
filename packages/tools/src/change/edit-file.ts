// code.edit_file (EDIT-1): parts of a file replaced, given as old and new text or as a unified diff.

import {
  type AnyTool,
  type ContentBlock,
  type InferOutput,
  type JsonObject,
  ToolFailure,
  defineTool,
} from "@soong/core";
import { diffOf, planEdits, planPatch, type PlannedText } from "../edit/index.ts";
import { commitChange, renderChange, type ChangeToolOptions } from "./commit-change.ts";
import { planChange, targetsOfChange, type KeptChanges, type Planner } from "./planned-change.ts";

const INPUT = {
  type: "object",
  properties: {
    path: {
      type: "string",
      minLength: 1,
      description: "Relative to the project, or absolute.",
    },
    edits: {
      type: "array",
      description: "The replacements. Leave out unified_diff.",
      items: {
        type: "object",
        properties: {
          old: {
            type: "string",
            description: "The text to replace, with enough around it to occur once.",
          },
          new: { type: "string", description: "What to put there." },
          replace_all: {
            type: "boolean",
            default: false,
            description: "Replace every occurrence instead of the only one.",
          },
        },
        required: ["old", "new"],
        additionalProperties: false,
      },
    },
    unified_diff: {
      type: "string",
      description: "A unified diff of this file, context and all. Leave out edits.",
    },
    create_if_missing: {
      type: "boolean",
      default: false,
      description:
        "Make the file if it is not there: one edit with an empty old, or a diff from an empty file.",
    },
  },
  required: ["path"],
  additionalProperties: false,
} as const;

type EditFileInput = InferOutput<typeof INPUT>;

export function editFileTool(options: ChangeToolOptions = {}): AnyTool {
  const kept: KeptChanges = new Map();
  return defineTool({
    name: "code.edit_file",
    title: "Edit a file",
    description:
      "Change parts of a file. Give edits (each old text must occur exactly once, copied from the file without line numbers; " +
      "all of them apply to the file as it is now, or none does) or a unified_diff of this one file. Everything else in the file stays as it is.",
    input_schema: INPUT,
    permission: "write",
    tags: ["code", "write", "filesystem", "artifact"],
    concurrency_safe: false,
    open_world: false,
    validate(input) {
      const { edits, unified_diff } = input;
      if (edits !== undefined && unified_diff !== undefined) {
        return "Both edits and unified_diff are given; give exactly one of them.";
      }
      if (edits === undefined && unified_diff === undefined) {
        return "Neither edits nor unified_diff is given; give exactly one of them.";
      }
      return undefined;
    },
    targets: (input, context) => targetsOfChange(input.path, context),
    prepare: (input, context) => planChange(plannerFor(input), context, kept),
    handler: (input, context) =>
      commitChange(plannerFor(input), context, {
        ...options,
        kept,
        createDirs: true,
        wording: { done: "Edited", created: "Created" },
      }),
    render: renderChange,
  });
}

function plannerFor(input: EditFileInput): Planner {
  const create = input.create_if_missing ?? false;
  return (before, { name, path }) => {
    const planned =
      input.edits === undefined
        ? planPatch(before?.bytes, ended(input.unified_diff ?? ""), {
            path: name,
            otherPaths: [path, input.path],
            create,
          })
        : planEdits(before?.bytes, input.edits, { create });
    if (!planned.ok) throw refused(name, planned.error);
    return {
      after: planned.after,
      diff: diffOf(name, before?.bytes, planned.spans),
      destructive: false,
    };
  };
}

/** Models leave the last line end of a diff out; what is meant is plain. */
function ended(unifiedDiff: string): string {
  return unifiedDiff === "" || unifiedDiff.endsWith("\n") ? unifiedDiff : `${unifiedDiff}\n`;
}

function refused(name: string, error: Extract<PlannedText, { ok: false }>["error"]): ToolFailure {
  const { code, message, details } = error;
  return new ToolFailure(
    {
      code,
      error_class: "invalid_arguments",
      message: `${name}: ${message}`,
      recovery: "change_arguments",
      details,
    },
    placesIn(details),
  );
}

interface NearPlace {
  readonly line?: number;
  readonly start_line?: number;
  readonly end_line?: number;
  readonly text?: string;
}

/** The text of the file where a miss came close, for the model to copy from (EDIT-5). */
function placesIn(details: JsonObject | undefined): ContentBlock[] {
  const near = (details?.["closest"] ?? details?.["nearest"] ?? []) as readonly NearPlace[];
  return near.flatMap(({ line, start_line = line, end_line = start_line, text }) =>
    text === undefined || start_line === undefined
      ? []
      : { type: "text", text: `${linesWord(start_line, end_line)} of the file:\n${text}` },
  );
}

function linesWord(first: number, last: number | undefined): string {
  return last === undefined || last === first ? `Line ${first}` : `Lines ${first} to ${last}`;
}
