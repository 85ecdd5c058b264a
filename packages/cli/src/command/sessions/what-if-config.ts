// A kept run judged by another config (REPLAY-2): that config's rules and tools in place of the recorded ones.

import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { whatIf, type WhatIfReport } from "@soong/replay";
import type { PolicyInput } from "@soong/core";
import type { SessionReader } from "@soong/store";
import type { SoongConfig } from "../../config/index.ts";

export interface WhatIfConfig {
  readonly source: SessionReader;
  readonly run_id: string;
  readonly home: string;
  /** A path that is whole. */
  readonly file: string;
}

export async function replayWithConfig(options: WhatIfConfig): Promise<WhatIfReport> {
  const { source, run_id, home, file } = options;
  const { pickKernelConfig, loadConfig } = await import("../../config/index.ts");
  const { values } = await loadConfig({ home, file });
  const { tools } = pickKernelConfig(values);
  return whatIf({
    source,
    run_id,
    policy: await policyUnder(values),
    ...(tools === undefined ? {} : { config: { tools } }),
  });
}

/** The config's rules in place of the recorded ones of a config; what flags and programs said stays, and so do the places. */
async function policyUnder(values: SoongConfig): Promise<(recorded: PolicyInput) => PolicyInput> {
  const { buildPolicy } = await import("../../config/index.ts");
  const { rules = [], ...others } = buildPolicy(values, { allow: [], deny: [] });
  return (recorded) => {
    const said = recorded.rules?.filter(({ origin }) => origin?.file === undefined) ?? [];
    const { roots, home = "" } = recorded;
    const write = values.tools.write_roots.map((root) => {
      const path = root === "~" || root.startsWith("~/") ? join(home, root.slice(1)) : root;
      return resolve(roots?.project ?? "/", path);
    });
    const { tmp_dir: _tmp, ...kept } = recorded;
    return {
      ...kept,
      ...others,
      ...(values.tools.tmp_dir ? { tmp_dir: recorded.tmp_dir ?? tmpdir() } : {}),
      rules: [...rules, ...said],
      ...(roots === undefined ? {} : { roots: { ...roots, write } }),
    };
  };
}
