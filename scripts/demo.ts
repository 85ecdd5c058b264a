// `npm run demo`: builds the command and lets it show itself, offline. First `soong demo`: a scripted model fixes a
// small project, and four workers do a task of twelve steps. Then a run that is killed in the middle of a command, and the session that continues.
// Exits with 0 only if everything happened as described.

import { CommandFailed, run } from "./command.ts";
import { showKilledRun } from "./demo-killed.ts";

try {
  run(process.execPath, ["scripts/bundle-cli.mjs"]);
  run("npx", ["soong", "demo"]);
  await showKilledRun();
  console.log(`
It is yours now, from this folder
  npx soong tools
  npx soong --help`);
} catch (error) {
  if (!(error instanceof CommandFailed)) throw error;
  console.error(`\n${error.message.trim()}`);
  process.exitCode = 1;
}
