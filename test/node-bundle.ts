// How tests bundle sources into a program that any supported Node runs.

import type { BuildOptions } from "esbuild";
import { sourceAlias } from "../scripts/source-alias.mjs";

export const NODE_BUNDLE = {
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  alias: sourceAlias(),
  logLevel: "error",
} satisfies BuildOptions;
