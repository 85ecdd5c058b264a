import { inspect } from "node:util";
import { expect, test } from "vitest";
import { createErrorReporter } from "./error-reporter.ts";
import { loadPackage } from "./load-package.ts";
import { openJobQueue } from "./open-job-queue.ts";
import { asQueueError, readQueueUrl } from "./queue-error.ts";

const SECRET = "s3cr3t/p@ss";
const URL_WITH_SECRETS = `postgres://me:${encodeURIComponent(SECRET)}@db.example:5432/work?sslkey=hidden`;

test("an error names the server and the reason, and no secret in any form", () => {
  const address = readQueueUrl(URL_WITH_SECRETS);
  const thrown = Object.assign(
    new Error(`cannot use ${SECRET} or ${encodeURIComponent(SECRET)} or hidden`),
    { command: ["auth", SECRET] },
  );
  const error = asQueueError(thrown, address, "cannot be opened");
  expect(error.message).toBe(
    "The job queue at postgres://db.example:5432/work cannot be opened: cannot use *** or *** or ***",
  );
  expect(inspect(error, { showHidden: true })).not.toMatch(/s3cr3t|hidden/);
});

test("the error for a user without rights names them", () => {
  const thrown = Object.assign(new Error("permission denied for database work"), { code: "42501" });
  expect(asQueueError(thrown, readQueueUrl("postgres://h/work"), "cannot be opened").message).toBe(
    "The job queue at postgres://h/work cannot be opened: permission denied for database work. GRANT this user CONNECT and CREATE on the database: the queue has a schema of its own",
  );
});

test("a host of which every address refuses is explained", () => {
  const errors = ["::1", "127.0.0.1"].map((host) => new Error(`connect ECONNREFUSED ${host}:1`));
  const error = asQueueError(new AggregateError(errors), readQueueUrl("redis://h"), "is away");
  expect(error.message).toBe(
    "The job queue at redis://h is away: connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1",
  );
});

test.each([
  ["", "cannot be read. Write it as postgres://"],
  [`postgres://me:${SECRET}@db:port/x`, "special characters of a password are percent-encoded"],
  [`mysql://me:s3cr3t@db/x`, 'There is no job queue for "mysql://". Write it as postgres://'],
])("the url %j is refused with what to write, and is not repeated", async (url, words) => {
  const error: unknown = await openJobQueue(url).catch((error: unknown) => error);
  expect(error).toMatchObject({
    code: "queue_url",
    message: expect.stringContaining(words) as string,
  });
  expect(inspect(error, { showHidden: true })).not.toContain("s3cr3t");
});

test("a missing package is named with its version, and one that is broken is not called missing", async () => {
  const notFound = (name: string): Promise<never> => {
    const message = `Cannot find package '${name}' imported from /x.js`;
    return Promise.reject(Object.assign(new Error(message), { code: "ERR_MODULE_NOT_FOUND" }));
  };
  await expect(loadPackage("bullmq", "6.7", () => notFound("bullmq"))).rejects.toMatchObject({
    code: "queue_package",
    message:
      "The job queue needs the package bullmq. Install bullmq 6.7 beside Soong: npm install bullmq@6.7",
  });
  await expect(loadPackage("bullmq", "6.7", () => notFound("tslib"))).rejects.toThrow("'tslib'");
});

test("an error that repeats is sent on once in thirty seconds", () => {
  const sent: string[] = [];
  let time = 0;
  const report = createErrorReporter(
    readQueueUrl("redis://h"),
    ({ message }) => void sent.push(message),
    () => time,
  );
  for (const [now, message] of [
    [0, "one"],
    [10, "one"],
    [20, "two"],
    [29_999, "one"],
    [30_000, "one"],
  ] as const) {
    time = now;
    report(new Error(message));
  }
  expect(sent.map((message) => message.slice(-3))).toEqual(["one", "two", "one"]);
});
