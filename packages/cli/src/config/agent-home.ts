// Where everything of a user's Soong lives (CONF-1). Never in a project: what a project brings along must
// not decide what may happen there.

import { homedir } from "node:os";
import { isAbsolute, join, normalize } from "node:path";

/** `SOONG_AGENT_HOME`, or `.soong-agent` in the user's home. Throws when it is not absolute. */
export function agentHome(env: Readonly<Record<string, string | undefined>>): string {
  const { SOONG_AGENT_HOME: given = "", HOME: user = "" } = env;
  if (given === "") return join(isAbsolute(user) ? user : homedir(), ".soong-agent");
  if (isAbsolute(given)) return withoutLastSlash(normalize(given));
  throw new Error(
    "SOONG_AGENT_HOME is not an absolute path. It would mean another directory in every project; set it to the whole path.",
  );
}

function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}
