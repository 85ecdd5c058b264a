// The instruction files of a conversation, as the config wants them (INSTR-1, INSTR-2): of the user in the home, of
// the project at its root.

import type { InstructionSource } from "@soong/agent";
import type { Roots } from "@soong/core";
import { instructionFiles } from "@soong/tools";
import { userHome, type LoadedConfig, type SoongConfig } from "../config/index.ts";

/** What a conversation begins with; undefined where the config wants none. */
export function openInstructions(
  { values, home }: LoadedConfig,
  { project }: Roots,
): InstructionSource | undefined {
  const limitBytes = limitInstructions(values);
  if (limitBytes === 0) return undefined;
  const { sensitive_paths: sensitivePaths } = values.tools;
  return instructionFiles({
    project,
    user: home,
    limitBytes,
    sensitivePaths,
    home: userHome(process.env),
  });
}

/** Of each file, in bytes; 0: none is taken. */
export function limitInstructions({ context }: SoongConfig): number {
  return context.instructions ? context.instruction_limit_bytes : 0;
}
