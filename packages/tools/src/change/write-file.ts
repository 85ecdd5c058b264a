// code.write_file (CODE-4): a whole new content for a file, old or new.

import { type AnyTool, type InferOutput, ToolFailure, defineTool } from "@soong/core";
import { wholeFileDiff } from "../edit/index.ts";
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
    content: {
      type: "string",
      description: "The whole content, written as UTF-8 just as given.",
    },
    create_dirs: {
      type: "boolean",
      default: true,
      description: "Make directories that are missing; true if left out.",
    },
    overwrite: {
      type: "boolean",
      default: false,
      description: "Replace a file that is there; without it, that is an error.",
    },
  },
  required: ["path", "content"],
  additionalProperties: false,
} as const;

type WriteFileInput = InferOutput<typeof INPUT>;

export function writeFileTool(options: ChangeToolOptions = {}): AnyTool {
  const kept: KeptChanges = new Map();
  return defineTool({
    name: "code.write_file",
    title: "Write a file",
    description:
      "Write a whole file: a new one, or, with overwrite, in place of what is there. To change a part of a file use code.edit_file.",
    input_schema: INPUT,
    permission: "write",
    tags: ["code", "write", "filesystem", "artifact"],
    concurrency_safe: false,
    open_world: false,
    targets: (input, context) => targetsOfChange(input.path, context),
    prepare: (input, context) => planChange(plannerFor(input), context, kept),
    handler(input, context) {
      const given = input;
      return commitChange(plannerFor(given), context, {
        ...options,
        kept,
        createDirs: given.create_dirs ?? true,
        wording: { done: "Overwrote", created: "Wrote" },
      });
    },
    render: renderChange,
  });
}

function plannerFor({ content, overwrite = false }: WriteFileInput): Planner {
  return (before, { name }) => {
    if (before !== undefined && !overwrite) throw pathConflict(name);
    const after = Buffer.from(content, "utf8");
    const diff = wholeFileDiff(name, before?.bytes, after);
    return { after, diff, destructive: before !== undefined };
  };
}

function pathConflict(name: string): ToolFailure {
  return new ToolFailure({
    code: "path_conflict",
    error_class: "invalid_arguments",
    message: `${name} is there already. Set overwrite to replace all of it, or change a part of it with code.edit_file.`,
    recovery: "change_arguments",
  });
}
