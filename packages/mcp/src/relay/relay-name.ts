// How the calls that are no tool calls are named, for rules and for the record: after the server, like its tools,
// so that a rule about all of a server is about these as well. No tool may be called so: "@" is in none of the
// characters the protocol gives to the names of tools.

import { canonicalName } from "../catalog/index.ts";

export const READ_RESOURCE = "@read_resource";
export const GET_PROMPT = "@get_prompt";

export type RelayMethod = typeof READ_RESOURCE | typeof GET_PROMPT;

export function relayToolName(server_id: string, method: RelayMethod): string {
  return canonicalName(server_id, method);
}

export function isRelayTool(tool_name: string): boolean {
  return tool_name.endsWith(`.${READ_RESOURCE}`) || tool_name.endsWith(`.${GET_PROMPT}`);
}
