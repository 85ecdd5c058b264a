// Where an inspector stands: the home it looks at, and the directory its calls happen in.

import type { LoadedConfig } from "../../config/index.ts";
import { EXIT, describeFailure, visibleLine } from "../../output/index.ts";
import { resolveHome, type CommandContext } from "../context.ts";
import { InspectorError } from "@soong/inspector";

export interface InspectedHome {
  readonly env: CommandContext["env"];
  readonly home: string;
  readonly cwd: string;
  /** As it is on disk now. */
  readonly config: () => Promise<LoadedConfig>;
  /** On stderr; the same is said once. */
  readonly note: (text: string) => void;
}

export async function openInspectedHome(context: CommandContext): Promise<InspectedHome> {
  const { env, cwd, output } = context;
  const home = await resolveHome(context);
  const said = new Set<string>();
  return {
    env,
    cwd,
    home,
    async config() {
      const { loadConfig } = await import("../../config/index.ts");
      return loadConfig({ home });
    },
    note(text) {
      if (said.has(text)) return;
      said.add(text);
      output.note(output.noteColours.dim(visibleLine(text)));
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
