// What a user does first with the installed package: check a value against a schema.

import { compileSchema, readSchema } from "@soong/schema";

const read = readSchema({
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
});
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const checked = compileSchema(read.original)({ path: 7 });
if (checked.ok || checked.issues[0]?.path !== "path") throw new Error("7 is no path");
