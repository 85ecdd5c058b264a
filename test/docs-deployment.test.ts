// The files of examples/deployment are what docs/deployment.md says they are: commands, options and settings exist, and the
// times fit together.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "@soong/platform";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { COMMANDS } from "../packages/cli/src/command/commands.ts";
import { parseConfig } from "../packages/cli/src/config/index.ts";

const folder = join("examples", "deployment");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

interface Service {
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly stop_grace_period?: string;
  readonly deploy?: { readonly replicas: number };
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly build?: { readonly dockerfile: string };
}

const compose = readCompose();
const config = parseConfig(read("config.toml"), "config.toml");
const unit = read("soong-worker@.service");
const container = read("Containerfile");
const [, started = ""] = /^ExecStart=\S+\/soong (.+)$/m.exec(unit) ?? [];
const commands: Readonly<Record<string, readonly string[]>> = {
  compose: compose.services["worker"]?.command ?? [],
  unit: started.split(" "),
  container: JSON.parse(/^CMD (.+)$/m.exec(container)?.[1] ?? "[]") as string[],
};

test.each(Object.entries(commands))(
  "the command of the %s exists",
  (_name, [name = "", ...words]) => {
    verifies("DOC-1");
    const { options = {} } =
      (COMMANDS as Readonly<Record<string, { options?: object }>>)[name] ?? {};
    const known = Object.keys(options).map((option) => option.split(" ")[0]);
    const used = words.filter((word) => word.startsWith("--"));
    expect(name).toBe("worker");
    expect(used).toContain("--pool");
    expect(used.filter((option) => !known.includes(option))).toEqual([]);
  },
);

test("a worker is given more time to end than its steps have", () => {
  verifies("DOC-1");
  const graceOf = (words: readonly string[] = []): number =>
    Number(words[words.indexOf("--grace") + 1]);
  const { worker } = compose.services;
  expect(parseInt(worker?.stop_grace_period ?? "", 10)).toBeGreaterThan(graceOf(worker?.command));
  const [, stopSeconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  expect(Number(stopSeconds)).toBeGreaterThan(graceOf(commands["unit"]));
});

test("the workers of the compose file share its database, by the settings of the config beside it", () => {
  verifies("DOC-1");
  const { worker, database } = compose.services;
  const { url = "", password_env = "" } = config.store;
  const { hostname, username, pathname } = new URL(url);
  expect(Object.keys(worker?.depends_on ?? {})).toEqual([hostname]);
  expect(Object.keys(compose.services)).toContain(hostname);
  expect(database?.environment["POSTGRES_USER"]).toBe(username);
  expect(database?.environment["POSTGRES_DB"]).toBe(pathname.slice(1));
  expect(worker?.environment[password_env]).toBe(database?.environment["POSTGRES_PASSWORD"]);
  const { replicas } = worker?.deploy ?? {};
  expect(replicas).toBe(3);
  const pool = config.agents.worker_pools["builders"];
  expect(pool).toMatchObject({ remote: true, size: replicas });
  for (const words of [commands["compose"], commands["container"]]) {
    expect(words?.[words.indexOf("--pool") + 1]).toBe("builders");
  }
  const volumes = Object.values(compose.services).flatMap((service) => service.volumes);
  expect(volumes.map((volume) => volume.replace(/:.*/, "")).toSorted()).toEqual(
    Object.keys(compose.volumes).toSorted(),
  );
});

test("the page links every one of the files, and no file holds a password", () => {
  verifies("DOC-1");
  const page = readFileSync(join("docs", "deployment.md"), "utf8");
  for (const name of readdirSync(folder)) {
    expect(page).toContain(`(../examples/deployment/${name})`);
    expect(read(name)).not.toMatch(/:\/\/[^\s/@]+:[^\s/@]+@|(PASSWORD|_KEY): [^$]/);
  }
});

function readCompose(): Compose {
  const parsed = parseDocument(read("compose.yaml"), "compose.yaml", "yaml");
  if (!parsed.ok) throw new Error(parsed.problems[0]?.message);
  return parsed.document.value as Compose;
}
