// Where an inspector works: the home it looks at, and the directory its calls happen in.

import { InspectorError } from "@soong/inspector";
import { loadConfig, type LoadedConfig } from "../../config/index.ts";
import { EXIT, describeFailure, visibleLine } from "../../output/index.ts";
import { resolveHome } from "../context.ts";
import type { CommandContext } from "../handler.ts";

export interface InspectedHome {
  readonly env: CommandContext["env"];
  readonly home: string;
  readonly cwd: string;
  /** As it is on disk now. */
  readonly config: () => Promise<LoadedConfig>;
  /** On stderr; the same is said once. */
  readonly note: (text: string) => void;
}

export function openInspectedHome(context: CommandContext): InspectedHome {
  const { env, cwd, output } = context;
  const home = resolveHome(context);
  const said = new Set<string>();
  return {
    env,
    cwd,
    home,
    config: () => loadConfig({ home }),
    note(text) {
      if (said.has(text)) return;
      said.add(text);
      output.note(visibleLine(text), "dim");
    },
  };
}

/** What goes wrong behind the page is reported in the same sentences that commands end with. */
export async function withInspectorErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InspectorError) throw error;
    const { message, exitCode } = describeFailure(error);
    throw new InspectorError(exitCode === EXIT.usage ? "bad_request" : "failed", message);
  }
}
