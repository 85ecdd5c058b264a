// `node scripts/run.mjs scripts/tool-pages.ts`: writes docs/tools/ from the definitions of the built-in tools.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSandbox } from "@soong/platform";
import { codeTools, readArtifactTool, webFetchTool } from "@soong/tools";
import { run } from "./command.ts";
import { toolPage } from "./tool-page.ts";

const folder = join("docs", "tools");
mkdirSync(folder, { recursive: true });
for (const tool of [...codeTools({ sandbox: openSandbox() }), webFetchTool(), readArtifactTool()]) {
  const path = join(folder, `${tool.name}.md`);
  const existing = existsSync(path) ? readFileSync(path, "utf8") : "";
  writeFileSync(path, toolPage(tool, existing));
  console.log(path);
}
run("oxfmt", [folder]);
