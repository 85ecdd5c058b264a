// Who can be asked for what a server wants of a host in the middle of a call: a message of its model
// (sampling), or its roots. Nothing of ours answers that: the gateway passes it to the client whose call it is,
// or the program that uses us gives a port of its own.

import type { HostRequest, QuestionOptions } from "../connection/index.ts";
import type { JsonObject } from "@soong/core";

export interface McpHost {
  /** The client that made this call; undefined where no one answers for it. */
  clientOf(call: {
    readonly run_id: string;
    readonly tool_call_id: string;
  }): HostClient | undefined;
}

export interface HostClient {
  /** The same for all calls of one client. */
  readonly identity: unknown;
  readonly sampling: boolean;
  readonly roots: boolean;
  /** How much of what its server logs during the call it wants to hear; default: nothing. */
  readonly logLevel?: string | undefined;
  /** Resolves with the result as the protocol has it. Rejects when the client refuses or is gone. */
  ask(request: HostRequest, options: QuestionOptions): Promise<JsonObject>;
  /**
   * Questions of the call are about to come together, under these names, elicitation among them. What it returns
   * is called for each that has been handled, whether or not it came this way.
   */
  expect?(keys: readonly string[]): (key: string) => void;
}
