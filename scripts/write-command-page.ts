// `node scripts/run.mjs scripts/write-command-page.ts`: writes docs/commands.md from the program.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandPage } from "./command-page.ts";
import { run } from "./command.ts";

const path = join("docs", "commands.md");
writeFileSync(path, commandPage());
run("oxfmt", [path]);
