// The crash test at length: 500 random kills, or as many as `npm run test:crash -- ROUNDS` says, and every labelled
// instant many times. SOONG_TEST_SEED repeats the plans of an earlier run, as far as timing allows.

import { CommandFailed, run } from "./command.ts";

const given = process.argv[2] ?? "500";
const rounds = Number(given);

if (Number.isSafeInteger(rounds) && rounds > 0) {
  try {
    run(
      "vitest",
      ["run", "test/store/crash", "--disable-console-intercept", "--no-file-parallelism"],
      {
        env: { SOONG_TEST_CRASH_ROUNDS: given },
      },
    );
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    console.error(error.message.trim());
    process.exitCode = 1;
  }
} else {
  console.error(`Usage: npm run test:crash -- [ROUNDS]. ${given} is no number of rounds.`);
  process.exitCode = 2;
}
