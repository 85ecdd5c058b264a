// What a command may see of the runtime's environment (CMD-1): an allowlist of names, never the rest.

import { isAbsolute } from "node:path";

/** A trailing `*` stands for any ending. None of these can hold a secret or load code into a program. */
export const DEFAULT_ENV_ALLOWLIST: readonly string[] = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "LC_*",
  "TZ",
  "TMPDIR",
  "TERM",
  "COLORTERM",
  "NO_COLOR",
];

export interface EnvironmentOptions {
  /** Instead of the default list. */
  allowlist?: readonly string[];
  /** Set whatever the list says. */
  extra?: Readonly<Record<string, string>>;
  /** The environment to choose from: that of this process unless given. */
  from?: Readonly<Record<string, string | undefined>>;
}

export function commandEnvironment(options: EnvironmentOptions = {}): Record<string, string> {
  const { allowlist = DEFAULT_ENV_ALLOWLIST, extra = {}, from = process.env } = options;
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) {
    if (value !== undefined && isAllowed(name, allowlist)) environment[name] = value;
  }
  Object.assign(environment, extra);
  const path = absoluteEntries(environment.PATH ?? "");
  // An empty PATH would itself mean the working directory; without one programs use the system's own.
  if (path === "") delete environment.PATH;
  else environment.PATH = path;
  return environment;
}

/** What the runtime itself is told, such as where its home is: no wildcard gives it on that does not name more than this. */
const OWN_PREFIX = "SOONG_";

function isAllowed(name: string, allowlist: readonly string[]): boolean {
  return allowlist.some((entry) => {
    if (!entry.endsWith("*")) return name === entry;
    const start = entry.slice(0, -1);
    return name.startsWith(start) && !(name.startsWith(OWN_PREFIX) && OWN_PREFIX.startsWith(start));
  });
}

/** A relative or empty entry means "wherever the command happens to be": the project could plant programs. */
function absoluteEntries(path: string): string {
  return path
    .split(":")
    .filter((entry) => isAbsolute(entry))
    .join(":");
}
