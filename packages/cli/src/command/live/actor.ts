// Who acts on a session through the store. A program that a runtime has started would act for the user (MCP-11), as at the socket.

import { ControlError } from "@soong/control";
import { MARKER_NAME } from "@soong/platform";

export interface Actor {
  /** As on record for those who answer through a socket, or at a terminal. */
  readonly answered_by: string;
  /** Of the acting process. */
  readonly env: NodeJS.ProcessEnv;
}

export function refuseRuntimeChild({ env }: Pick<Actor, "env">): void {
  if (env[MARKER_NAME] === undefined) return;
  throw new ControlError(
    "refused",
    "What a runtime has started cannot act on it: answer from another terminal.",
  );
}
