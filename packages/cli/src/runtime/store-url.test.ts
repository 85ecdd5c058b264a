import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../config/index.ts";
import { findStoreUrl, listStoreSecrets } from "./store-url.ts";

const CONFIG = parseConfig(
  '[store]\nurl = "postgres://me@db.example.org/soong"\npassword_env = "DB_PASSWORD"\n',
  "config.toml",
);
const EMPTY = parseConfig("", "config.toml");
const PASSWORD = "p@ss:w/rd#100%";

describe("the database of a home", () => {
  test("is SQLite in the home when nothing names another", () => {
    verifies("STORE-1");
    expect(findStoreUrl(EMPTY, {})).toBeUndefined();
    expect(findStoreUrl(undefined, { SOONG_STORE_URL: "" })).toBeUndefined();
  });

  test("is that of the config, with the password of the variable it names", () => {
    verifies("STORE-1", "CONF-2");
    const url = findStoreUrl(CONFIG, { DB_PASSWORD: PASSWORD }) ?? "";
    expect(decodeURIComponent(new URL(url).password)).toBe(PASSWORD);
    expect(new URL(url).host).toBe("db.example.org");
  });

  test("on a socket takes the password as a parameter", () => {
    const { store } = parseConfig(
      '[store]\nurl = "postgres:///soong?host=/run/postgresql"\npassword_env = "PW"\n',
      "config.toml",
    );
    const url = new URL(findStoreUrl({ store }, { PW: PASSWORD }) ?? "");
    expect(url.searchParams.get("password")).toBe(PASSWORD);
    expect(url.searchParams.get("host")).toBe("/run/postgresql");
  });

  test("is that of SOONG_STORE_URL before the config's, without the config's password", () => {
    verifies("STORE-1");
    const env = { SOONG_STORE_URL: "postgres://other/soong", DB_PASSWORD: PASSWORD };
    expect(findStoreUrl(CONFIG, env)).toBe("postgres://other/soong");
  });

  test("is that of the config with its password, where the variable names the same one without", () => {
    verifies("STORE-1");
    const env = { SOONG_STORE_URL: "postgres://me@db.example.org/soong", DB_PASSWORD: PASSWORD };
    expect(decodeURIComponent(new URL(findStoreUrl(CONFIG, env) ?? "").password)).toBe(PASSWORD);
    // The server may want none, or find it elsewhere.
    expect(findStoreUrl(CONFIG, { ...env, DB_PASSWORD: "" })).toBe(env.SOONG_STORE_URL);
  });

  test.each([
    ["postgres://me@a:1,b:2/soong", "names several hosts"],
    ["postgres://me@db/soong?schema=Bad", "has a schema with other characters"],
    ["postgres://me@db/soong?host=a,b", "names several hosts"],
  ])("is refused with its place where it cannot be one: %s", (address, problem) => {
    verifies("CONF-2");
    const text = `[store]\nurl = "${address}"\n`;
    expect(() => parseConfig(text, "config.toml")).toThrow(
      `config.toml:2:7: store.url: ${problem}`,
    );
  });

  test("is not guessed when the variable of its password is not set", () => {
    verifies("CONF-2");
    expect(() => findStoreUrl(CONFIG, {})).toThrow(
      /DB_PASSWORD is not set.*Set it to the password/,
    );
  });

  test.each(["p@qx/w:zq#1", "p@qx/vy", "12#x", "12?p", "12/p", "88?x=1"])(
    "is refused where its password %s is not percent-encoded, and no part of it is shown",
    (password) => {
      verifies("STORE-1", "REDACT-1");
      const given = `postgres://me:${password}@db/soong`;
      let message = "";
      try {
        findStoreUrl(EMPTY, { SOONG_STORE_URL: given });
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message).toMatch(/^SOONG_STORE_URL (has a special|is not a valid)/);
      expect(message).toMatch(/percent-encode/);
      for (const part of password.split(/[@/:#?]/)) {
        if (part.length > 1) expect(message).not.toContain(part);
      }
    },
  );

  test.each(["require", "prefer", "verify-ca"])(
    "is checked when it is to be encrypted (%s), and the driver has nothing to warn of",
    (mode) => {
      verifies("STORE-1");
      const strict = "postgres://db/soong?sslmode=verify-full";
      const given = `postgres://db/soong?sslmode=${mode}`;
      expect(findStoreUrl(EMPTY, { SOONG_STORE_URL: given })).toBe(strict);
      const config = parseConfig(`[store]\nurl = "${given}"\n`, "config.toml");
      expect(findStoreUrl(config, {})).toBe(strict);
    },
  );

  test("is refused with a mode of encryption that is none", () => {
    verifies("CONF-2");
    const env = { SOONG_STORE_URL: "postgres://db/soong?sslmode=requires" };
    expect(() => findStoreUrl(EMPTY, env)).toThrow("SOONG_STORE_URL has an unknown sslmode: it is");
  });

  test.each([
    ["sslmod=verify-full", "did you mean sslmode?"],
    ["schema=s&SSLMODE=verify-full", "did you mean sslmode?"],
    ["hunter2=hunter3", "the database driver reads."],
    ["require_auth=scram-sha-256", "the database driver reads."],
    ["channel_binding=require", "the database driver reads."],
    ["connect_timeout=3", "the database driver reads."],
  ])("is refused with the parameter %s that the driver would ignore", (parameters, hint) => {
    verifies("CONF-2");
    const given = `postgres://db/soong?${parameters}`;
    const finding = () => findStoreUrl(EMPTY, { SOONG_STORE_URL: given });
    expect(finding).toThrow("SOONG_STORE_URL has a parameter that is neither schema nor one that");
    expect(finding).toThrow(hint);
    expect(finding).not.toThrow(/hunter|verify-full/);
    expect(() => parseConfig(`[store]\nurl = "${given}"\n`, "config.toml")).toThrow(
      /store.url: has a parameter/,
    );
  });

  test("may have the parameters that the driver reads", () => {
    const url =
      "postgres://db/soong?schema=s&sslmode=verify-full&sslrootcert=/ca.pem&application_name=x&options=-c%20a%3Db&lock_timeout=3";
    expect(findStoreUrl(EMPTY, { SOONG_STORE_URL: url })).toBe(url);
  });

  test.each(["mysql://me:hunter2@db/soong", "db/soong:hunter2", "postgres://me:hunt#er2@db/soong"])(
    "a SOONG_STORE_URL that is none (%s) is refused without repeating it",
    (url) => {
      verifies("CONF-2");
      const finding = () => findStoreUrl(EMPTY, { SOONG_STORE_URL: url });
      expect(finding).toThrow(/^SOONG_STORE_URL is not /);
      expect(finding).not.toThrow(/hunt/);
    },
  );
});

describe("the password of the database", () => {
  test.each([
    ["in the variable of the config", CONFIG, { DB_PASSWORD: PASSWORD }],
    [
      "in SOONG_STORE_URL",
      EMPTY,
      { SOONG_STORE_URL: `postgres://me:${encodeURIComponent(PASSWORD)}@db/soong` },
    ],
    [
      "as a parameter of SOONG_STORE_URL, with a config that cannot be read",
      undefined,
      { SOONG_STORE_URL: `postgres://db/soong?password=${encodeURIComponent(PASSWORD)}` },
    ],
    ["where the driver looks for it", CONFIG, { DB_PASSWORD: "x", PGPASSWORD: PASSWORD }],
  ])("%s is a known secret, as it is and as a URL spells it", (_where, values, env) => {
    verifies("REDACT-3");
    const known = listStoreSecrets(values, env).map(({ value }) => value);
    expect(known).toContain(PASSWORD);
    expect(known).toContain(encodeURIComponent(PASSWORD));
  });

  test("there is none for SQLite", () => {
    expect(listStoreSecrets(EMPTY, { PGPASSWORD: PASSWORD })).toEqual([]);
  });
});
