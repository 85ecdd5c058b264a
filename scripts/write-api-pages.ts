// `node scripts/run.mjs scripts/write-api-pages.ts`: writes docs/api/ from the types of the packages.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiPage } from "./api-page.ts";
import { run } from "./command.ts";
import { packageFolders } from "./layout.ts";

const folders = packageFolders();
run("tsc", ["--build", ...folders.map((folder) => join("packages", folder))]);
const pages = join("docs", "api");
mkdirSync(pages, { recursive: true });
for (const folder of folders) writeFileSync(join(pages, `${folder}.md`), apiPage(folder));
run("oxfmt", [pages]);
