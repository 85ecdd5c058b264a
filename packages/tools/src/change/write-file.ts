// code.write_file (CODE-4): a whole new content for a file, old or new.

import { type AnyTool, type InferOutput, defineTool } from "@soong/core";
import { invalidArguments } from "@soong/core/internal";
import { wholeFileDiff } from "../edit/unified-diff.ts";
import { fields, flag, pathField, text } from "../input/fields.ts";
import { changesFile, type ChangeToolOptions } from "./change-file.ts";

const INPUT = fields(
  {
    path: pathField,
    content: text("The whole content, written as UTF-8 just as given."),
    create_dirs: flag("Make directories that are missing; default true.", { default: true }),
    overwrite: flag("Replace a file that is there; without it, that is an error.", {
      default: false,
    }),
  },
  "path",
  "content",
);

type WriteFileInput = InferOutput<typeof INPUT>;

export function writeFileTool(options: ChangeToolOptions = {}): AnyTool {
  return defineTool({
    name: "code.write_file",
    title: "Write a file",
    description:
      "Write a whole file: a new one, or, with overwrite, in place of what is there. To change a part of a file use code.edit_file.",
    input_schema: INPUT,
    ...changesFile<WriteFileInput>(options, {
      createDirs: ({ create_dirs = true }) => create_dirs,
      done: "Overwrote",
      created: "Wrote",
      plan({ content, overwrite = false }, before, { name }) {
        if (before !== undefined && !overwrite) {
          throw invalidArguments(
            "path_conflict",
            `${name} is there already. Set overwrite to replace all of it, or change a part of it with code.edit_file.`,
          );
        }
        const after = Buffer.from(content, "utf8");
        const diff = wholeFileDiff(name, before?.bytes, after);
        return { after, diff, destructive: before !== undefined };
      },
    }),
  });
}
