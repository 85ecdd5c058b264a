#!/usr/bin/env node
// The command. Everything else is loaded by what was asked for.

import { existsSync } from "node:fs";

const program = new URL("../dist/soong.js", import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  process.stderr.write("soong: not built yet. Run `npm run build` in the clone first.\n");
  process.exitCode = 1;
}
