// Each function loads its code at the first call: most commands look at no other runtime, and most runtimes serve no client.

import type { ConnectOptions, ControlClient, LiveRuntimes } from "./connect.ts";
import type { ControlServer } from "./listen.ts";
import type { ControlSubject } from "./watch-session.ts";

/** Undefined where there are no such sockets. Throws where there can be none; the message says what helps. */
export async function serveControl(
  home: string,
  subject: ControlSubject,
): Promise<ControlServer | undefined> {
  if (!hasControlSockets()) return undefined;
  const { listen } = await import("./listen.ts");
  return listen(home, subject);
}

/** Also clears away what killed runtimes have left. */
export async function listLiveRuntimes(home: string): Promise<LiveRuntimes> {
  const { listLive } = await import("./connect.ts");
  return listLive(home);
}

/** The folder of the sockets, made where it is not there. Throws where there can be none; the message says what helps. */
export async function controlFolder(home: string): Promise<string> {
  const { makeControlDirectory } = await import("./control-directory.ts");
  const directory = makeControlDirectory(home);
  directory.close();
  return directory.path;
}

export async function connectControl(
  path: string,
  options?: ConnectOptions,
): Promise<ControlClient> {
  const { connect } = await import("./connect.ts");
  return connect(path, options);
}

/** Windows has pipes instead, with other rights; that is not done yet (DOC-3). */
export function hasControlSockets(): boolean {
  return process.platform !== "win32";
}
