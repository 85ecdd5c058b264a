// Where an inspector stands: the home it looks at, and the directory its calls happen in.

import type { LoadedConfig } from "../config/index.ts";
import { visibleLine } from "../output/index.ts";
import { homeOf, type CommandContext } from "./context.ts";

export interface InspectedPlace {
  readonly env: CommandContext["env"];
  readonly home: string;
  readonly cwd: string;
  /** As it is on disk now. */
  readonly config: () => Promise<LoadedConfig>;
  /** On stderr; the same is said once. */
  readonly note: (text: string) => void;
}

export async function inspectedPlace(context: CommandContext): Promise<InspectedPlace> {
  const { env, cwd, output } = context;
  const home = await homeOf(context);
  const said = new Set<string>();
  return {
    env,
    cwd,
    home,
    async config() {
      const { loadConfig } = await import("../config/index.ts");
      return loadConfig({ home });
    },
    note(text) {
      if (said.has(text)) return;
      said.add(text);
      output.note(output.noteColours.dim(visibleLine(text)));
    },
  };
}
