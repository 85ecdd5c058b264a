// What a stranger does first with the installed command: ask for its version, call a tool, look at what is kept.

import { execFileSync } from "node:child_process";
import { resolve } from "node:path";

const env = { ...process.env, SOONG_AGENT_HOME: resolve("soong-home") };
const soong = (...args: string[]): string =>
  execFileSync("node_modules/.bin/soong", args, { env, encoding: "utf8" });

if (!/^\d+\.\d+\.\d+\n$/.test(soong("--version"))) throw new Error("the version is no version");
if (!soong("--help").includes("Examples:")) throw new Error("the help has no examples");
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
