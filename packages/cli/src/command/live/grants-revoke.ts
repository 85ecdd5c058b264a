// `soong grants revoke`: takes back what was allowed "for this session" (CLI-7).

import type { ListedGrant, LiveRuntime } from "@soong/control";
import { CommandError, EXIT, visibleLine } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { liveRuntimes, withClient } from "./live-runtimes.ts";
import { argument, JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "revoke",
  summary: "revoke one: the next such call requires approval again",
  arguments: [argument("<id>", "its id, as `soong grants` lists it")],
  options: [JSON_OPTION],
  examples: ["soong grants revoke grant_0abc"],
  exitCodes: "0 it is revoked, 1 no live session has it",
  run: findAndRevokeGrant,
};

async function findAndRevokeGrant(
  context: CommandContext,
  grant_id: string,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { output } = context;
  for (const runtime of await liveRuntimes(context)) {
    const grant = await revokeGrant(runtime, grant_id);
    if (grant === undefined) continue;
    const { pid, project } = runtime.hello;
    if (json) output.record("soong.grants_revoke/1", { pid, project, ...grant });
    else output.line(`revoked ${visibleLine(grant.grant_id)}: ${visibleLine(grant.covers)}`);
    return EXIT.ok;
  }
  throw new CommandError(
    `No live session has the grant ${visibleLine(grant_id)}. \`soong grants\` lists what there is.`,
  );
}

async function revokeGrant(
  runtime: LiveRuntime,
  grant_id: string,
): Promise<ListedGrant | undefined> {
  try {
    const answer = await withClient(runtime, (client) =>
      client.request("grants.revoke", { grant_id }),
    );
    return answer?.grant;
  } catch (error) {
    if ((error as { code?: unknown }).code === "not_found") return undefined;
    throw error;
  }
}
