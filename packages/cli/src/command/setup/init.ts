// `soong init`: a config with every setting explained and none switched on. Never over one that is there.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commentedConfig } from "../../config/index.ts";
import { EXIT, visibleLine } from "../../output/index.ts";
import { resolveHome, type CommandContext } from "../context.ts";
import type { CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "init",
  summary: "write a config with comments, if there is none",
  examples: ["soong init", "SOONG_AGENT_HOME=/srv/soong soong init"],
  run: writeConfig,
};

async function writeConfig(context: CommandContext): Promise<number> {
  const home = await resolveHome(context);
  const file = join(home, "config.toml");
  await mkdir(home, { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, commentedConfig(), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    context.output.line(`${visibleLine(file)} is there already and stays as it is.`);
    return EXIT.ok;
  }
  context.output.line(`Wrote ${visibleLine(file)}. Nothing in it is needed; change what you like.`);
  context.output.line(
    `MCP servers go into ${visibleLine(join(home, "mcp.json"))}; \`soong mcp list\` says how they are.`,
  );
  context.output.line("`soong doctor` checks all of it.");
  return EXIT.ok;
}
