// The store on PostgreSQL under faults, at length: 200 holders killed, or as many as `npm run test:cluster -- ROUNDS` says, with
// partitions, crashes of the server and claims in proportion. Then workers of many machines (test-cluster-workers.ts). Prints what
// it measured. `--short` does a tenth of both.

import { CommandFailed, run } from "./command.ts";

const isShort = process.argv.includes("--short");
const given = process.argv.slice(2).find((word) => word !== "--short") ?? (isShort ? "20" : "200");
const rounds = Number(given);

if (Number.isSafeInteger(rounds) && rounds > 0) {
  try {
    run(
      "vitest",
      ["run", "test/store/postgres", "--disable-console-intercept", "--no-file-parallelism"],
      { env: { SOONG_TEST_CLUSTER_ROUNDS: given } },
    );
    const workers = ["scripts/run.mjs", "scripts/test-cluster-workers.ts"];
    run("node", [...workers, ...(isShort ? ["--short"] : [])]);
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    console.error(error.message.trim());
    process.exitCode = 1;
  }
} else {
  console.error(
    `Usage: npm run test:cluster -- [--short] [ROUNDS]. ${given} is no number of rounds.`,
  );
  process.exitCode = 2;
}
