// The files of the page. A request names one of the files in their directory, or none: no path is ever made of what was
// asked for.

import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { InspectorError } from "./ports.ts";

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".txt": "text/plain",
  ".svg": "image/svg+xml",
};

/** `path` as in the request. Undefined: there is no such file. */
export async function readPageFile(directory: string, path: string): Promise<PageFile | undefined> {
  const wanted = path === "/" ? "index.html" : path.slice(1);
  const type = TYPES[extname(wanted)];
  const files = await listFiles(directory);
  if (type === undefined || !files.includes(wanted)) return undefined;
  return { type, bytes: await readFile(join(directory, wanted)) };
}

async function listFiles(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch (error) {
    throw new InspectorError(
      "failed",
      `The files of the page cannot be read (${(error as Error).message}); install the inspector again.`,
    );
  }
}
