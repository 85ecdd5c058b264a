// Where everything of a user's Soong lives (CONF-1). Never in a project: what a project brings along must
// not decide what may happen there.

import { userInfo } from "node:os";
import { isAbsolute, join, normalize } from "node:path";

/** `SOONG_AGENT_HOME`, or `.soong-agent` in the user's home. Throws when it is not absolute. */
export function agentHome(env: Readonly<Record<string, string | undefined>>): string {
  const { SOONG_AGENT_HOME: given = "" } = env;
  if (given === "") return join(userHome(env), ".soong-agent");
  if (isAbsolute(given)) return withoutLastSlash(normalize(given));
  throw new Error(
    "SOONG_AGENT_HOME is not an absolute path. It would mean another directory in every project; set it to the whole path.",
  );
}

/** `HOME`, or what the system knows of this user. Never one that is not absolute: a project could bring it along. */
export function userHome({
  HOME: given = "",
}: Readonly<Record<string, string | undefined>>): string {
  if (isAbsolute(given)) return given;
  const known = knownHome();
  if (isAbsolute(known)) return known;
  throw new Error(
    "This user has no home directory; set HOME or SOONG_AGENT_HOME to the absolute path of one.",
  );
}

/** A container may run as a user whom its system does not know. */
function knownHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "";
  }
}

function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}
