// What the import check has to know of one file: what it imports, where, and how it opens.

import { parseSync } from "oxc-parser";

export interface Import {
  readonly specifier: string;
  readonly line: number;
}

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  /** Type-only ones included: they, too, say who needs to know whom. */
  readonly imports: readonly Import[];
  readonly opensWithComment: boolean;
}

export function readSourceFile(path: string, text: string): SourceFile {
  const { module } = parseSync(path, text);
  const requests = [
    ...module.staticImports.map((statement) => statement.moduleRequest),
    ...module.staticExports.flatMap(({ entries }) => entries[0]?.moduleRequest ?? []),
    ...module.dynamicImports.map((expression) => expression.moduleRequest),
  ];
  const imports = requests.map(({ start, end }) => ({
    // The span still holds the quotes.
    specifier: text.slice(start + 1, end - 1),
    line: text.slice(0, start).split("\n").length,
  }));
  return { path, imports, opensWithComment: /^\s*\/[/*]/.test(text) };
}

export function isTest(path: string): boolean {
  return path.endsWith(".test.ts");
}
