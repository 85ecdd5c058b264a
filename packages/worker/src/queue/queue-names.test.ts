import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeJobId, encodePool, readStoredJob, storeJob } from "./queue-names.ts";

const name = fc.string({ minLength: 1, maxLength: 30, unit: "grapheme" });

test("two names stay two names, in characters that no engine refuses", () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      for (const encode of [(name: string) => encodePool(name), encodeJobId]) {
        expect(encode(one) === encode(other)).toBe(one === other);
        expect(encode(one)).toMatch(/^[a-z0-9]+[/-][\w%/.!~*'()-]+$/);
      }
    }),
  );
});

test("the id of a step is readable in the tables of the queue", () => {
  expect(encodeJobId("task_1/build.all/2")).toBe("job/task_1/build.all/2");
  expect(encodePool("gpu")).toBe("soong2-gpu");
  expect(encodePool("gpu", "team_a")).toBe("soong2.team_a-gpu");
  expect(() => encodePool("gpu", "a-b")).toThrow("no plain name");
});

test("a stored job is read as it was, and what is none is undefined", () => {
  fc.assert(
    fc.property(name, fc.dictionary(fc.string(), fc.jsonValue()), (id, data) => {
      const job = { id, data: JSON.parse(JSON.stringify(data)) as never };
      expect(readStoredJob(JSON.parse(JSON.stringify(storeJob(job))))).toEqual(job);
    }),
  );
  for (const other of [undefined, null, 1, {}, { job: 1 }, { job: "{" }, { job: "null" }]) {
    expect(readStoredJob(other)).toBeUndefined();
  }
  expect(readStoredJob({ job: '{"id":1,"data":{}}' })).toBeUndefined();
  expect(readStoredJob({ job: '{"id":"1"}' })).toBeUndefined();
});
