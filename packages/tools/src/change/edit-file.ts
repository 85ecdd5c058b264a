// code.edit_file (EDIT-1): parts of a file replaced, given as old and new text or as a unified diff.

import {
  type AnyTool,
  type ContentBlock,
  type InferOutput,
  type JsonObject,
  defineTool,
} from "@soong/core";
import { invalidArguments } from "@soong/core/internal";
import { renderDiff } from "../edit/unified-diff.ts";
import { planEdits } from "../edit/plan-edits.ts";
import { planPatch } from "../edit/patch.ts";
import { fields, flag, list, pathField, text } from "../input/fields.ts";
import { changesFile, type ChangeToolOptions } from "./change-file.ts";

const INPUT = fields(
  {
    path: pathField,
    edits: list("The replacements. Leave out unified_diff.", {
      items: fields(
        {
          old: text("The text to replace, with enough around it to occur once."),
          new: text("What to put there."),
          replace_all: flag("Replace every occurrence instead of the only one.", {
            default: false,
          }),
        },
        "old",
        "new",
      ),
    }),
    unified_diff: text("A unified diff of this file, context and all. Leave out edits."),
    create_if_missing: flag(
      "Make the file if it is not there: one edit with an empty old, or a diff from an empty file.",
      { default: false },
    ),
  },
  "path",
);

type EditFileInput = InferOutput<typeof INPUT>;

export function editFileTool(options: ChangeToolOptions = {}): AnyTool {
  return defineTool({
    name: "code.edit_file",
    title: "Edit a file",
    description:
      "Change parts of a file. Give edits (each old text must occur exactly once, copied from the file without line numbers; " +
      "all of them apply to the file as it is now, or none does) or a unified_diff of this one file. Everything else in the file stays as it is.",
    input_schema: INPUT,
    validate({ edits, unified_diff }) {
      if ((edits === undefined) !== (unified_diff === undefined)) return undefined;
      return edits === undefined
        ? "Neither edits nor unified_diff is given; give exactly one of them."
        : "Both edits and unified_diff are given; give exactly one of them.";
    },
    ...changesFile<EditFileInput>(options, {
      createDirs: () => true,
      done: "Edited",
      created: "Created",
      plan(input, before, { name, path }) {
        const { edits, unified_diff = "", create_if_missing: create = false } = input;
        // Models leave the last line end of a diff out; what is meant is plain.
        const patch = unified_diff.replace(/(?<=[^\n])$/, "\n");
        const planned =
          edits === undefined
            ? planPatch(before?.bytes, patch, {
                path: name,
                otherPaths: [path, input.path],
                create,
              })
            : planEdits(before?.bytes, edits, { create });
        if (!planned.ok) {
          const { code, message, details } = planned.error;
          throw invalidArguments(code, `${name}: ${message}`, details, nearPlaces(details));
        }
        const diff = renderDiff(name, before?.bytes, planned.spans);
        return { after: planned.after, diff, destructive: false };
      },
    }),
  });
}

interface NearPlace {
  readonly line?: number;
  readonly start_line?: number;
  readonly end_line?: number;
  readonly text?: string;
}

/** The text of the file where a miss came close, for the model to copy from (EDIT-5). */
function nearPlaces(details: JsonObject | undefined): ContentBlock[] {
  const near = (details?.["closest"] ?? details?.["nearest"] ?? []) as readonly NearPlace[];
  return near.flatMap(({ line, start_line: first = line, end_line: last = first, text }) => {
    if (text === undefined || first === undefined) return [];
    const lines = last === first ? `Line ${first}` : `Lines ${first} to ${last}`;
    return { type: "text", text: `${lines} of the file:\n${text}` };
  });
}
