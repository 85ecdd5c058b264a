// A second process for the tests of the file boundary: `node path-worker.mjs BUNDLE DEED OPTIONS` does one
// deed with the path room and tells of it in lines of JSON.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [bundle = "", deed = "", options = "{}"] = process.argv.slice(2);
const { commitFile, withFileLock } =
  /** @type {typeof import("../../packages/tools/src/path/index.ts")} */ (
    await import(pathToFileURL(bundle).href)
  );
const { path, lockDirectory, ...more } =
  /** @type {{ path: string, lockDirectory: string, times?: number, text?: string, expected?: string | null, size?: number }} */ (
    JSON.parse(options)
  );

/** @type {Record<string, () => Promise<void>>} */
const deeds = {
  /** One commit of `text` on `expected`. */
  async commit() {
    tell({ code: (await commit(more.text ?? "", more.expected ?? null)) ?? "committed" });
  },

  /** Adds one to the number in the file, `times` over, each time on what it read. */
  async increment() {
    for (let done = 0; done < (more.times ?? 0);) {
      const text = readFileSync(path, "utf8");
      const next = Number(text) + 1;
      const code = await commit(String(next), sha256(text));
      if (code === undefined) {
        done += 1;
        tell({ made: next });
      } else if (code !== "changed_since_approval" && code !== "file_busy") {
        throw new Error(`unexpected ${code}`);
      }
    }
  },

  /** Takes the lock and stays. */
  async hold() {
    await withFileLock(path, { lockDirectory }, () => {
      tell({ held: true });
      return stay();
    });
  },

  /** Replaces the file by `size` equal letters, then by other ones, for ever. */
  async churn() {
    for (let count = 0; ; count += 1) {
      const letter = "abcdefgh"[count % 8] ?? "";
      const code = await commit(letter.repeat(more.size ?? 0), sha256(readFileSync(path, "utf8")));
      if (code !== undefined) {
        throw new Error(`unexpected ${code}`);
      }
      if (count === 0) {
        tell({ churning: true });
      }
    }
  },
};

await deeds[deed]?.();

/**
 * @param {string} text
 * @param {string | null} expected
 */
async function commit(text, expected) {
  try {
    const bytes = Buffer.from(text);
    await commitFile({ path, bytes, expected, createDirs: false, lockDirectory });
    return undefined;
  } catch (error) {
    return /** @type {import("@soong/core").ToolFailure} */ (error).error.code;
  }
}

/** @param {string} text */
function sha256(text) {
  return createHash("sha256").update(text).digest("hex");
}

/** @param {object} line */
function tell(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** @returns {Promise<never>} */
function stay() {
  setInterval(() => undefined, 1_000_000);
  return new Promise(() => {});
}
