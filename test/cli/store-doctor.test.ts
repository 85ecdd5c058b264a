// What `soong doctor` says of a database elsewhere: that it answers and how, or in one sentence why not.

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { openStore } from "@soong/store";
import { Client } from "pg";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { usePostgres } from "../postgres/shared.ts";
import { bundleCli, recordsOf, type CliBundle } from "./cli-bundle.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

/** The line of the store, and the exit code. */
async function diagnose(url: string | undefined, config = "", env: Record<string, string> = {}) {
  const place = await bundle.place();
  await place.write(join(place.home, "config.toml"), config);
  const all = url === undefined ? env : { ...env, SOONG_STORE_URL: url };
  const ended = await place.run(["doctor", "--json"], { env: all });
  const line = recordsOf(ended).find(({ about }) => about === "store");
  return { ...(line as { state: string; says: string; next?: string }), code: ended.code };
}

function changed(url: string, change: (url: URL) => void): string {
  const parsed = new URL(url);
  change(parsed);
  return parsed.href;
}

/** A port where no one listens any more. */
async function closedPort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return String(port);
}

describe("soong doctor about a database elsewhere", () => {
  it("names it without credentials, with its version, how soon it answers and what its clock says", async () => {
    verifies("CONF-2");
    const url = await usePostgres();
    const { state, says } = await diagnose(url);
    expect(state).toBe("ok");
    const [address, answers, session] = says.split("\n");
    const { host, pathname, username, password } = new URL(url);
    expect(address).toContain(`postgres://${host}${pathname}, schema soong, no tables yet`);
    expect(address).toMatch(/^PostgreSQL \d+/);
    expect(answers).toMatch(/^answers in \d+\.\d ms; its clock is \d+ ms (ahead|behind)$/);
    expect(session).toBe("nothing is kept yet");
    expect(says).not.toContain(password);
    expect(says).not.toContain(`${username}:`);
  });

  it("fails where nothing can be written, as soong store does", async () => {
    verifies("CONF-2", "STORE-1");
    const url = await usePostgres();
    const role = `limited_${randomBytes(6).toString("hex")}`;
    const owner = new Client({ connectionString: url });
    await owner.connect();
    onTestFinished(async () => {
      await owner.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      await owner.end();
    });
    await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'for-a-test'`);
    const limited = changed(url, (one) => {
      one.username = role;
      one.password = "for-a-test";
    });
    const place = await bundle.place();
    const expectProblem = async (problem: string): Promise<void> => {
      const { state, says } = await diagnose(limited);
      expect([state, says]).toEqual(["fail", expect.stringContaining(problem)]);
      const shown = await place.run(["store"], { env: { SOONG_STORE_URL: limited } });
      expect(shown).toMatchObject({ code: 1 });
      expect(shown.stderr).toContain(problem);
    };
    await expectProblem("this user may not make them: GRANT it CREATE on the database.");
    await (await openStore({ directory: place.home, url })).close();
    const schema = "SCHEMA soong";
    await owner.query(
      `GRANT USAGE ON ${schema} TO ${role}; GRANT SELECT ON ALL TABLES IN ${schema} TO ${role}`,
    );
    await expectProblem("GRANT it INSERT, UPDATE and DELETE on ALL TABLES IN SCHEMA soong.");
    await owner.query(`GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN ${schema} TO ${role}`);
    expect(await diagnose(limited)).toMatchObject({ state: "ok" });
    await owner.query(`ALTER ROLE ${role} SET default_transaction_read_only = on`);
    await expectProblem("It can only be read: default_transaction_read_only is on");
  });

  it("says in one sentence why it cannot be used, and what names it", async () => {
    verifies("CONF-2");
    const url = await usePostgres();
    const port = await closedPort();
    const cases = [
      [
        changed(url, (one) => (one.password = "wrong-Horse-7")),
        /does not accept the user or password/,
      ],
      [changed(url, (one) => (one.pathname = "/missing")), /there is no such database; create it/],
      [
        changed(url, (one) => (one.hostname = "no-such-host.invalid")),
        /check that it runs and can be reached/,
      ],
      [changed(url, (one) => (one.port = port)), /does not answer; check that it runs/],
    ] as const;
    const found = await Promise.all(cases.map(([wrong]) => diagnose(wrong)));
    for (const [index, [wrong, sentence]] of cases.entries()) {
      const { state, says, next, code } = found[index]!;
      expect({ state, code }).toEqual({ state: "fail", code: 1 });
      expect(says).toMatch(sentence);
      expect(says).toMatch(/^The store postgres:\/\/[^\n]*\.$/);
      expect(says).not.toContain(new URL(wrong).password);
      expect(next).toBe("SOONG_STORE_URL names this database.");
    }
  });

  it("is waited for by the other commands, which say so", async () => {
    verifies("STORE-1", "CLI-6");
    const place = await bundle.place();
    await place.write(join(place.home, "config.toml"), "[store]\nbusy_timeout_ms = 300\n");
    const url = changed(await usePostgres(), (one) => (one.port = "1"));
    const { code, stdout, stderr } = await place.run(["tasks"], { env: { SOONG_STORE_URL: url } });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^The store does not answer; trying again for up to 0\.3 s\.\nsoong: The store postgres:\/\/.* it does not answer; check/,
    );
  });

  it("says that the variable of the password is not set", async () => {
    verifies("CONF-2");
    const config = '[store]\nurl = "postgres://me@127.0.0.1/soong"\npassword_env = "DB_PASSWORD"\n';
    const { state, says, next } = await diagnose(undefined, config);
    expect({ state, next }).toEqual({ state: "fail" });
    expect(says).toMatch(/^DB_PASSWORD is not set.*Set it to the password of the database\.$/);
  });
});
