// `soong init`: a config with every setting explained and none switched on. Never over one that is there.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commentedConfig } from "../../config/index.ts";
import { visibleLine } from "../../output/index.ts";
import { resolveHome } from "../context.ts";
import type { Handler } from "../handler.ts";

export const writeConfig: Handler<"init"> = async (context) => {
  const { output } = context;
  const home = resolveHome(context);
  const file = join(home, "config.toml");
  await mkdir(home, { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, commentedConfig(), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return output.line(`${visibleLine(file)} is there already and stays as it is.`);
  }
  output.line(`Wrote ${visibleLine(file)}. Nothing in it is needed; change what you like.`);
  output.line(
    `MCP servers go into ${visibleLine(join(home, "mcp.json"))}; \`soong mcp list\` says how they are.`,
  );
  output.line("`soong doctor` checks all of it.");
};
