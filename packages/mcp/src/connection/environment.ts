// What a server may see of the environment (MCP-8): an allowlist of names and what its entry sets, never
// the rest.

import { isAbsolute } from "node:path";

const DEFAULT_ALLOWLIST: readonly string[] = [
  "PATH",
  "HOME",
  "LANG",
  "TERM",
  "TMPDIR",
  "USER",
  "SHELL",
  "LOGNAME",
];

export function serverEnvironment(options: {
  from: Readonly<Record<string, string | undefined>>;
  allowlist?: readonly string[] | undefined;
  entry: Readonly<Record<string, string>>;
}): Record<string, string> {
  const { from, allowlist = DEFAULT_ALLOWLIST, entry } = options;
  const environment: Record<string, string> = {};
  for (const name of allowlist) {
    const value = Object.hasOwn(from, name) ? from[name] : undefined;
    if (value !== undefined) environment[name] = value;
  }
  Object.assign(environment, entry);
  const path = (environment.PATH ?? "").split(":").filter((folder) => isAbsolute(folder));
  // A relative folder would be looked up wherever the server runs: anybody could plant a program there.
  if (path.length === 0) delete environment.PATH;
  else environment.PATH = path.join(":");
  return environment;
}
