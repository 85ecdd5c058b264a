// What the import check has to know of one file: what it imports, where, and how it opens.

import { parseSync } from "oxc-parser";

export interface Import {
  readonly specifier: string;
  /** Of types alone: nothing of it is there at run time. */
  readonly isType: boolean;
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
    ...module.staticImports.map(({ start, moduleRequest }) => ({ from: start, ...moduleRequest })),
    ...module.staticExports.flatMap(({ start, entries }) => {
      const request = entries[0]?.moduleRequest;
      return request ? [{ from: start, ...request }] : [];
    }),
    ...module.dynamicImports.map(({ start, moduleRequest }) => ({ from: start, ...moduleRequest })),
  ];
  const imports = requests.map(({ from, start, end }) => ({
    specifier: specifierIn(text.slice(start, end)),
    isType: /^(?:import|export)\s+type\b/.test(text.slice(from, start)),
    line: text.slice(0, start).split("\n").length,
  }));
  return { path, imports, opensWithComment: /^\s*\/[/*]/.test(text) };
}

/** Without the quotes. What is put together at run time stays as it is written, and is no one's package. */
function specifierIn(request: string): string {
  return /^(["'])(.*?)\1/.exec(request)?.[2] ?? request;
}

export function isTest(path: string): boolean {
  return path.endsWith(".test.ts");
}
