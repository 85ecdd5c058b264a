// A PostgreSQL of a test's own: a fresh cluster in a temporary directory, on a free port of this machine. Nothing of it
// is left when it is stopped or when the process that started it is killed (guard.ts).

import { randomBytes } from "node:crypto";
import {
  access,
  appendFile,
  constants,
  chown,
  mkdtemp,
  readFile,
  realpath,
  rm,
  statfs,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase } from "./database.ts";
import { findPostgres, serverUser, type ServerUser } from "./find.ts";
import { findFreePort } from "./free-port.ts";
import { startGuard, type PostgresGuard } from "./guard.ts";

export { findPostgres } from "./find.ts";

export interface PostgresServer {
  /** Of the maintenance database, with user and password. */
  readonly url: string;
  /** A fresh empty database; its url. */
  createDatabase(): Promise<string>;
  /** Stopped, `immediate` as if it had crashed, and started again on the same port. */
  restart(mode: "immediate" | "fast"): Promise<void>;
  /** The database is away until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** And removes its directory. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Default: true. Without, a crash of the machine loses all: the directory may be in memory. */
  readonly fsync?: boolean;
  /** Lines of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { fsync = true, settings = {} } = options;
  const found = await findPostgres();
  if ("problem" in found) throw new Error(`This needs ${found.problem}.`);
  const user = await serverUser();
  const password = randomBytes(12).toString("hex");
  const folder = await makeFolder(fsync ? tmpdir() : await fastestPlace(), password, user);
  const guard = startGuard({ bin: found.bin, folder, user });
  const remove = async (): Promise<void> => {
    await guard.end();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    if (!(await guard.run("init"))) throw await explain("initialize", folder);
    await configure(folder, { ...BASE, ...(fsync ? {} : UNSAFE), ...settings });
    const port = await startOnFreePort(guard, folder);
    const url = `postgres://soong:${password}@127.0.0.1:${port}/postgres`;
    return follow(guard, { url, folder, remove });
  } catch (error) {
    await remove();
    throw error;
  }
}

async function makeFolder(place: string, password: string, user: ServerUser): Promise<string> {
  const folder = await realpath(await mkdtemp(join(place, "soong-postgres-")));
  const file = join(folder, "password");
  await writeFile(file, password, { mode: 0o600 });
  if (user.uid !== undefined && user.gid !== undefined) {
    for (const path of [file, folder]) await chown(path, user.uid, user.gid);
  }
  return folder;
}

const MEMORY = "/dev/shm";
const ENOUGH_BYTES = 2 ** 30;

/** A new database is 300 files: 15 ms in memory, 90 to 260 ms on ext4. In containers there is often too little of it. */
async function fastestPlace(): Promise<string> {
  try {
    const { bavail, bsize } = await statfs(MEMORY);
    if (bavail * bsize < ENOUGH_BYTES) return tmpdir();
    await access(MEMORY, constants.W_OK);
    return MEMORY;
  } catch {
    return tmpdir();
  }
}

const BASE = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  shared_buffers: "32MB",
  timezone: "UTC",
};

/** Commits stay synchronous: what is committed survives a crash of the server, if not of the machine. */
const UNSAFE = { fsync: "off", full_page_writes: "off", max_wal_size: "128MB" };

function follow(
  guard: PostgresGuard,
  { url, folder, remove }: { url: string; folder: string; remove: () => Promise<void> },
): PostgresServer {
  const stop = async (mode: "fast" | "immediate"): Promise<void> => {
    if (!(await guard.run(`stop ${mode}`))) throw await explain("stop", folder);
  };
  const start = async (): Promise<void> => {
    if (!(await guard.run("start"))) throw await explain("start", folder);
  };
  let removed: Promise<void> | undefined;
  return {
    url,
    createDatabase: () => createDatabase(url),
    async restart(mode) {
      await stop(mode);
      await start();
    },
    pause: () => stop("fast"),
    resume: start,
    stop: () => (removed ??= remove()),
  };
}

async function configure(
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`,
  );
  await appendFile(join(folder, "data", "postgresql.conf"), lines.join(""));
}

const MOST_PORTS = 5;

/** Another process may take a port between the look and the start. */
async function startOnFreePort(guard: PostgresGuard, folder: string): Promise<number> {
  for (let tried = 1; ; tried += 1) {
    const port = await findFreePort();
    await configure(folder, { port: String(port) });
    if (await guard.run("start")) return port;
    const error = await explain("start", folder);
    if (tried === MOST_PORTS || !error.message.includes("could not bind")) throw error;
  }
}

async function explain(what: string, folder: string): Promise<Error> {
  const log = await readFile(join(folder, "log"), "utf8").catch(() => "");
  const end = log.trimEnd().split("\n").slice(-20).join("\n");
  return new Error(`PostgreSQL did not ${what}. The end of its log:\n${end}`);
}
