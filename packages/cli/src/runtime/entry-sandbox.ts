// The sandbox of MCP servers and hooks whose entries want one (CMD-6): closed are the places of this runtime and secrets.

import type { OpenEntrySandbox, Sandbox } from "@soong/platform";
import { openEntrySandbox } from "@soong/tools";
import type { SoongConfig } from "../config/index.ts";
import type { resolvePlaces } from "./places.ts";

export function entrySandboxes(
  sandbox: Sandbox,
  { roots, policy }: Awaited<ReturnType<typeof resolvePlaces>>,
  { sensitive_paths: sensitivePaths }: SoongConfig["tools"],
): OpenEntrySandbox {
  const options = {
    sandbox,
    closed: policy.protected_roots,
    userHome: policy.home,
    sensitivePaths,
    project: roots.project,
  };
  return (wanted, program) => openEntrySandbox(options, wanted, program);
}
