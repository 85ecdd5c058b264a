// What a user does first with the installed command: ask for its version, call a tool, look at what is kept,
// watch the demo. Everything it needs is in it, or from others.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const env = {
  ...process.env,
  SOONG_AGENT_HOME: resolve("soong-home"),
  TMPDIR: resolve("soong-temporary"),
};
mkdirSync(env.TMPDIR);
const soong = (...args: string[]): string =>
  execFileSync("node_modules/.bin/soong", args, { env, encoding: "utf8" });

if (!/^\d+\.\d+\.\d+\n$/.test(soong("--version"))) throw new Error("the version is no version");
if (!soong("--help").includes("Examples:")) throw new Error("the help has no examples");
if (existsSync("node_modules/@soong")) throw new Error("the command does not stand alone");
const licences = readFileSync("node_modules/soong/dist/THIRD-PARTY-LICENSES.txt", "utf8");
for (const name of ["ajv", "commander", "re2js", "yaml"]) {
  if (!licences.includes(`\n${name} `)) throw new Error(`the licence of ${name} is missing`);
}
const listed = soong("call", "code.list_dir", "{}", "--json");
const { session_id, result } = JSON.parse(listed) as {
  session_id: string;
  result: { status: string };
};
if (result.status !== "succeeded") throw new Error(`unexpected result: ${listed}`);
if (!soong("verify", session_id).startsWith("ok"))
  throw new Error("the session is not as recorded");
const fromCode = 'import { main } from "soong"; process.exitCode = await main(["--version"]);';
execFileSync(process.execPath, ["--input-type=module", "-e", fromCode], { env });
if (!/^ {2}SOONG_AGENT_HOME=\S+ soong events run_/m.test(soong("demo"))) {
  throw new Error("the demo does not say how to look at it");
}
