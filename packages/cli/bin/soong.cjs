#!/usr/bin/env node
// The command. Everything else is loaded by what was asked for.

"use strict";

const { existsSync } = require("node:fs");

const program = `${__dirname}/../dist/soong.cjs`;
if (existsSync(program)) {
  require(program);
} else {
  process.stderr.write("soong: not built yet. Run `npm run build` in the clone first.\n");
  process.exitCode = 1;
}
