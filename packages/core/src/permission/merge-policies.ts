// The policy of a session and what one run adds to it. Rules are of one layer and simply come together;
// of every other setting the stricter one holds, so that no run takes back what its session forbids.

import { omitUndefined } from "@soong/schema";
import type { NetworkPolicy, PolicyInput } from "./policy.ts";

export function mergePolicies(session: PolicyInput, run: PolicyInput): PolicyInput {
  const network = stricterNetwork(session.network, run.network);
  const readonlyMcp = session.readonly_mcp ?? run.readonly_mcp;
  return {
    ...run,
    ...session,
    rules: [...(session.rules ?? []), ...(run.rules ?? [])],
    destructive: session.destructive === "deny" || run.destructive === "deny" ? "deny" : "ask",
    ...omitUndefined({ network }),
    protected_roots: [...(session.protected_roots ?? []), ...(run.protected_roots ?? [])],
    sensitive_paths: [...(session.sensitive_paths ?? []), ...(run.sensitive_paths ?? [])],
    ...(session.links === undefined && run.links === undefined
      ? {}
      : { links: { ...run.links, ...session.links } }),
    ...omitUndefined({ readonly_mcp: readonlyMcp }),
    case_insensitive_paths:
      session.case_insensitive_paths === true || run.case_insensitive_paths === true,
  };
}

const STRICTNESS = { default: 0, ask: 1, hosts: 2, off: 3 } as const;

function stricterNetwork(
  session: NetworkPolicy | undefined,
  run: NetworkPolicy | undefined,
): NetworkPolicy | undefined {
  if (session === undefined || run === undefined) return session ?? run;
  if (session.mode === run.mode) {
    // Only hosts both of them list: a list allows, and each allows no more than it says.
    const listed =
      run.hosts === undefined
        ? session.hosts
        : session.hosts?.filter((host) => run.hosts?.includes(host));
    return listed === undefined ? { mode: session.mode } : { mode: session.mode, hosts: listed };
  }
  return STRICTNESS[session.mode] > STRICTNESS[run.mode] ? session : run;
}
