// Keeps what was compiled of the program from one start to the next, where Node can (22.8 and later): in the home,
// which no tool writes to (PERM-14), and only once there is one. Without it a start takes longer, and that is all.

import { existsSync } from "node:fs";
import * as node from "node:module";
import { userInfo } from "node:os";
import { isAbsolute, join } from "node:path";

export function keepCompiledCode(env: Environment): void {
  const { enableCompileCache } = node as { enableCompileCache?: (directory: string) => unknown };
  const home = findHome(env);
  if (enableCompileCache === undefined || home === undefined || !existsSync(home)) return;
  enableCompileCache(join(home, "cache", "compiled"));
}

type Environment = Readonly<Record<string, string | undefined>>;

/** As `agentHome` of the config finds it, a module that is too much to load before anything is cached. */
export function findHome({
  SOONG_AGENT_HOME: given = "",
  HOME: user = "",
}: Environment): string | undefined {
  if (given !== "") return isAbsolute(given) ? join(given) : undefined;
  const home = isAbsolute(user) ? user : knownHome();
  return isAbsolute(home) ? join(home, ".soong-agent") : undefined;
}

/** A container may run as a user whom its system does not know. */
function knownHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "";
  }
}
