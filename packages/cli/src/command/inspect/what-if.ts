// What a kept run would have come to under another config, for the page: as `soong replay RUN --config FILE`.

import { resolve } from "node:path";
import { ReplayError } from "@soong/replay";
import { InspectorError, type InspectorPorts } from "@soong/inspector";
import type { Store } from "@soong/store";
import { withInspectorErrors } from "./inspected-home.ts";
import { openVerifiedSession } from "../sessions/stored-run.ts";
import { replayWithConfig } from "../sessions/what-if-config.ts";

export function createWhatIfPort(
  store: Store,
  { home, cwd }: { readonly home: string; readonly cwd: string },
): NonNullable<InspectorPorts["whatIf"]> {
  return ({ run_id, config_file }) =>
    withInspectorErrors(async () => {
      if (config_file.trim() === "") {
        throw new InspectorError("bad_request", "Name the config file to try, such as other.toml.");
      }
      const file = resolve(cwd, config_file);
      try {
        const source = await openVerifiedSession(store, run_id);
        return { ...(await replayWithConfig({ source, run_id, home, file })), config_file: file };
      } catch (error) {
        throw error instanceof ReplayError ? new InspectorError("failed", error.message) : error;
      }
    });
}
