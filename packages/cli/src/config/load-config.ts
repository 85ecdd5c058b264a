// Reads the config of a home, or the one file that was asked for (CONF-1). None is needed (CONF-2); one that
// is there has to be sound.

import { join, resolve } from "node:path";
import type { Problem } from "@soong/platform";
import { parseWithWarnings } from "./parse-config.ts";
import { fileRefusal, readSettingsFile } from "./settings-file.ts";
import type { SoongConfig } from "./soong-config.ts";

export interface LoadedConfig {
  readonly home: string;
  /** Undefined: there is none, which is fine. */
  readonly file: string | undefined;
  readonly values: SoongConfig;
  /** What is odd and no mistake. */
  readonly warnings: readonly Problem[];
}

/** `file`: the one to read instead of the home's own; that one has to be there. Throws a ConfigError. */
export async function loadConfig(options: { home: string; file?: string }): Promise<LoadedConfig> {
  const { home } = options;
  const file = options.file === undefined ? join(home, "config.toml") : resolve(options.file);
  const read = await readSettingsFile(file);
  if (read === undefined) {
    if (options.file !== undefined) throw fileRefusal(file, "is not there");
    return { home, file: undefined, ...parseWithWarnings("", file) };
  }
  const { values, warnings } = parseWithWarnings(read.text, file);
  return { home, file, values, warnings: [...read.warnings, ...warnings] };
}
