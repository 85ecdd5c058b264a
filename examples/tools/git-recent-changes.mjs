#!/usr/bin/env node
// The program behind git-recent-changes.json: runs `git log` and prints a ToolResult.

import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { commits: { type: "string", default: "10" }, path: { type: "string" } },
});

// Nothing a repository can configure is run: no file monitor, no signature check, no converters, no fetching.
const { status, stdout, stderr, error } = spawnSync(
  "git",
  [
    "--no-pager",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "log.showSignature=false",
    "log",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--numstat",
    "-z",
    `--max-count=${values.commits}`,
    "--format=%x01%h%x02%an%x02%aI%x02%s",
    "--",
    ...(values.path === undefined ? [] : [values.path]),
  ],
  {
    encoding: "utf8",
    env: { ...process.env, GIT_NO_LAZY_FETCH: "1", GIT_OPTIONAL_LOCKS: "0" },
    maxBuffer: 64 * 1024 * 1024,
  },
);

if (error !== undefined || status !== 0) {
  process.stderr.write(stderr || `${error?.message ?? "git failed"}\n`);
  process.exit(1);
}

const commits = stdout
  .split("\u0001")
  .slice(1)
  .map((text) => {
    const [head = "", ...files] = text.split("\0").map((line) => line.replace(/^\n+/, ""));
    const [commit, author, date, subject] = head.split("\u0002");
    return { commit, author, date, subject, files: files.filter(Boolean).map(fileOf) };
  });

const result = {
  ok: true,
  summary: `${commits.length} commit${commits.length === 1 ? "" : "s"}`,
  data: commits,
};
process.stdout.write(JSON.stringify(result));

/**
 * A line of --numstat; a binary file has no numbers.
 * @param {string} line
 */
function fileOf(line) {
  const [added, removed, ...path] = line.split("\t");
  const numbers = added === "-" ? {} : { added: Number(added), removed: Number(removed) };
  return { path: path.join("\t"), ...numbers };
}
