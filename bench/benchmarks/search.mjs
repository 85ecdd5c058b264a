// Latency and recall of tool search, measured by bench/search itself.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** @import { Report } from "./index.mjs" */

const module = new URL("../search/run.mjs", import.meta.url);

/** @type {Report} */
export const search = {
  id: "search",
  title: "Tool search",
  async report(options) {
    if (!existsSync(fileURLToPath(module))) return undefined;
    /** @type {unknown} */
    const found = await import(module.href);
    return /** @type {{ run: Report["report"] }} */ (found).run(options);
  },
};
