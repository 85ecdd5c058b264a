// What a user does first with the installed package: run a program of which nothing stays behind.

import { environmentOutside, findProgram, startProcess } from "@soong/platform";

const roots = { project: process.cwd(), write: [] };
const env = environmentOutside(roots, {});
const { found } = findProgram("sh", { directory: "/", roots }, env);
const printed: Buffer[] = [];
const running = startProcess({
  executable: found,
  argv: [found, "-c", "sleep 60 & echo hello"],
  cwd: "/",
  env,
  onStdout: (chunk) => void printed.push(chunk),
});
const end = await running.end;
if (end.exit_code !== 0 || end.leftovers !== 1)
  throw new Error(`unexpected end: ${JSON.stringify(end)}`);
if (Buffer.concat(printed).toString() !== "hello\n")
  throw new Error("the output is not as printed");
