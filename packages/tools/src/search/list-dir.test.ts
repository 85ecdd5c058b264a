import { expectTypeOf, test } from "vitest";
import type { listDirTool } from "./list-dir.ts";

type Given = Parameters<ReturnType<typeof listDirTool>["handler"]>[0];

test("what the handler gets has the fields of the schema, and reading any other does not compile", () => {
  expectTypeOf<Given>().toEqualTypeOf<{
    path?: string;
    recursive?: boolean;
    glob?: string;
    limit?: number;
    sort?: "name" | "modified";
    hidden?: boolean;
    ignored?: boolean;
  }>();
  const given: Given = { path: "src" };
  // @ts-expect-error The schema has no such field.
  const { directory } = given;
  expectTypeOf(directory).toBeAny();
});
