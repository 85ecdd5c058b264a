// Artifacts of 10 MB in PostgreSQL, against bare bytea: in one row, and in rows of the size the store uses.

import { randomBytes } from "node:crypto";
import { paired } from "../paired.mjs";
import { withPostgres } from "../store-pg.mjs";

/** @import { Report } from "./index.mjs" */

const SIZE = 10 * 1024 * 1024;
const PART = 256 * 1024;

/** @type {Report} */
export const storePgArtifacts = {
  id: "store-pg-artifacts",
  title: "An artifact of 10 MB in PostgreSQL",
  report: ({ quick }) =>
    withPostgres(async ({ connect, open }) => {
      const bare = await bareBytes(await connect());
      const store = await open();
      const { session_id, artifacts, journal } = await store.createSession();
      const about = { session_id, run_id: "run_1", media_type: "text/plain" };
      const nextBytes = differentBytes();
      let artifact_id = "";
      const options = /** @type {const} */ ({ rounds: quick ? 3 : 10, unit: "ms" });
      const written = await paired(
        [
          { name: "bare bytea, INSERT of one row", run: () => bare.write(nextBytes(), SIZE) },
          {
            name: "bare bytea, INSERT of rows of 256 KiB, a transaction",
            run: () => bare.write(nextBytes(), PART),
          },
          {
            name: "written as an artifact",
            async run() {
              ({ artifact_id } = await artifacts.write(nextBytes(), about));
              await journal.flush();
            },
          },
        ],
        options,
      );
      const read = await paired(
        [
          { name: "bare bytea, SELECT of one row", run: () => bare.read(SIZE) },
          { name: "bare bytea, SELECT of rows of 256 KiB", run: () => bare.read(PART) },
          { name: "read as an artifact", run: () => artifacts.read(artifact_id) },
        ],
        options,
      );
      return [...written, ...read];
    }),
};

/** The store keeps each content once. */
function differentBytes() {
  const bytes = randomBytes(SIZE);
  let count = 0;
  return () => {
    count += 1;
    bytes.writeUInt32LE(count);
    return bytes;
  };
}

/** @param {import("pg").Client} client */
async function bareBytes(client) {
  await client.query(
    "CREATE TABLE blobs (number int, part int, bytes bytea, PRIMARY KEY (number, part))",
  );
  await client.query("ALTER TABLE blobs ALTER COLUMN bytes SET STORAGE EXTERNAL");
  const insert = "INSERT INTO blobs (number, part, bytes) VALUES ($1, $2, $3)";
  const select = "SELECT bytes FROM blobs WHERE number = $1 ORDER BY part";
  /** The last that was written in rows of this size. @type {Map<number, number>} */
  const last = new Map();
  let number = 0;
  return {
    /** @param {Buffer} bytes @param {number} size  of a row */
    async write(bytes, size) {
      number += 1;
      last.set(size, number);
      await client.query("BEGIN");
      for (let at = 0; at < SIZE; at += size) {
        const part = bytes.subarray(at, at + size);
        await client.query({ name: "insert", text: insert, values: [number, at / size, part] });
      }
      await client.query("COMMIT");
    },
    /** @param {number} size */
    read: (size) => client.query({ name: "select", text: select, values: [last.get(size)] }),
  };
}
