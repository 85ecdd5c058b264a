// Which PostgreSQL the tests run, and as which user: an installed server, or else the one that an npm package carries.
// SOONG_TEST_POSTGRES chooses: installed, npm, none, or the url of a running server that the shared databases are made on.

import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { unpackNpmPostgres } from "./npm-binaries.ts";

const run = promisify(execFile);

export interface FoundPostgres {
  /** The directory of initdb, pg_ctl and postgres. */
  readonly bin: string;
  readonly source: "installed" | "npm";
}

export interface MissingPostgres {
  /** What is missing and what to do, to follow "needs ". */
  readonly problem: string;
}

type Choice = "any" | "installed" | "npm" | "none" | { readonly url: string };

export async function findPostgres(): Promise<FoundPostgres | MissingPostgres> {
  const choice = chosenPostgres();
  if (choice === "none") return { problem: "PostgreSQL, which SOONG_TEST_POSTGRES=none turns off" };
  const sources =
    choice === "installed" || choice === "npm" ? [choice] : (["installed", "npm"] as const);
  const reasons: string[] = [];
  for (const source of sources) {
    const found = await (source === "installed" ? findInstalled() : findInPackage());
    if ("bin" in found) return { bin: found.bin, source };
    reasons.push(found.reason);
  }
  return { problem: `PostgreSQL: ${reasons.join(", and ")}. Install Debian's postgresql package` };
}

/** Throws where SOONG_TEST_POSTGRES is none of its values. */
export function chosenPostgres(value = process.env["SOONG_TEST_POSTGRES"] ?? ""): Choice {
  if (value === "") return "any";
  if (value === "installed" || value === "npm" || value === "none") return value;
  if (/^postgres(ql)?:\/\//.test(value) && URL.canParse(value)) return { url: value };
  // The value may be a url with a typing error and a password: it is not repeated.
  throw new Error(
    "SOONG_TEST_POSTGRES is not valid: set it to installed, npm, none or a postgres:// url, or unset it.",
  );
}

export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root. */
export async function serverUser(): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return {};
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all(
        ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, name])).stdout)),
      );
      if (uid !== undefined && gid !== undefined) return { uid, gid };
    } catch {
      // No such user: the next one.
    }
  }
  throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody.");
}

type Candidate = { readonly bin: string } | { readonly reason: string };

async function findInstalled(): Promise<Candidate> {
  for (const bin of await installedPlaces()) {
    // A package of clients only has pg_config too.
    if (existsSync(join(bin, "initdb")) && existsSync(join(bin, "pg_ctl"))) return checkRuns(bin);
  }
  return { reason: "no server is installed" };
}

async function installedPlaces(): Promise<string[]> {
  const asked = await run("pg_config", ["--bindir"]).then(
    ({ stdout }) => [stdout.trim()],
    () => [],
  );
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian)
    ? readdirSync(debian).map(Number).filter(Number.isFinite)
    : [];
  return [
    ...asked,
    ...versions.toSorted((one, other) => other - one).map((version) => `${debian}/${version}/bin`),
    ...(process.env["PATH"] ?? "").split(delimiter).filter((place) => place !== ""),
  ];
}

async function findInPackage(): Promise<Candidate> {
  try {
    const bin = await unpackNpmPostgres();
    if (bin !== undefined) return await checkRuns(bin);
    return { reason: `no npm package has one for ${process.platform}-${process.arch}` };
  } catch (error) {
    return { reason: `that of the npm package cannot be unpacked (${lastLine(error)})` };
  }
}

/** Some have no library they need, and some are in a place that the server's user cannot read. */
async function checkRuns(bin: string): Promise<Candidate> {
  try {
    await run(join(bin, "postgres"), ["--version"], { ...(await serverUser()), cwd: "/" });
    return { bin };
  } catch (error) {
    const user = process.getuid?.() === 0 ? "the user postgres or nobody" : "this user";
    return { reason: `${user} cannot run ${join(bin, "postgres")} (${lastLine(error)})` };
  }
}

function lastLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n").at(-1) ?? "";
}
