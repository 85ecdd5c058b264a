// Property tests take the same cases in every ordinary run: a test command that fails by chance helps
// no one. The full run draws new ones each time and prints its seed when it finds something.

import fc from "fast-check";

const { SOONG_TEST_FULL, SOONG_TEST_SEED } = process.env;
const seed = SOONG_TEST_SEED ?? (SOONG_TEST_FULL === "1" ? undefined : "20260101");
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
