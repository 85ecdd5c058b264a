// `node scripts/run.mjs scripts/write-config-page.ts`: writes docs/config.md from the definition of the settings.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.ts";
import { configPage } from "./config-page.ts";

const path = join("docs", "config.md");
writeFileSync(path, configPage(readFileSync(path, "utf8")));
run("oxfmt", [path]);
