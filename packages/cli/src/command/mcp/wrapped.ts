// Which entries of other programs start a server through Soong, and what they were before: enough to put them back. The file
// holds what the entries held, so it is readable by its owner only.

import { checkValue, readJsonFile, shape, withFileLock, writeWholeFile } from "@soong/platform";
import { HOST_NAMES, type HostId } from "../../runtime/host-servers.ts";
import { homePaths } from "../../runtime/home.ts";

export interface WrappedEntry {
  /** In mcp.json. */
  readonly server_id: string;
  readonly host: HostId;
  readonly file: string;
  readonly path: readonly string[];
  readonly entry: Readonly<Record<string, unknown>>;
  /** The lines that were replaced, and those in their place. */
  readonly lines: { readonly before: string; readonly after: string };
}

const { anyText } = shape;
const WRAPPED = shape.object({
  version: shape.wholeNumber(1, 1),
  wrapped: shape.list(
    shape.object({
      server_id: anyText,
      host: shape.choice(Object.keys(HOST_NAMES)),
      file: anyText,
      path: shape.list(anyText),
      entry: shape.anything,
      lines: shape.object({ before: anyText, after: anyText }),
    }),
  ),
});

export async function listWrapped(home: string): Promise<readonly WrappedEntry[]> {
  const file = homePaths(home).wrapped;
  const given = await readJsonFile(file, "It says what `soong mcp unwrap` puts back.");
  if (given === undefined) return [];
  const [problem] = checkValue(given, WRAPPED);
  if (problem === undefined) return (given as { wrapped: readonly WrappedEntry[] }).wrapped;
  throw new Error(`${file} is not what \`soong mcp wrap\` writes: ${problem.message}`);
}

export async function changeWrapped(
  home: string,
  change: (entries: readonly WrappedEntry[]) => readonly WrappedEntry[],
): Promise<void> {
  const file = homePaths(home).wrapped;
  await withFileLock(file, {}, async () => {
    const wrapped = change(await listWrapped(home));
    await writeWholeFile(file, `${JSON.stringify({ version: 1, wrapped }, undefined, 2)}\n`);
  });
}
