// `soong store`: shows which database has the sessions of this home, and its size.

import { describeStore, type StoreDescription, type WriteRefusal } from "@soong/store";
import { CommandError, visibleLine } from "../../output/index.ts";
import { findStoreOptions } from "../../runtime/home.ts";
import { resolveHome } from "../context.ts";
import type { Handler } from "../handler.ts";
import { openForReading } from "../stored.ts";

export const showStore: Handler<"store"> = async (context) => {
  const place = { home: resolveHome(context), env: context.env };
  const described = await describeStore(await findStoreOptions(place));
  const store = await openForReading(place);
  const sessions = (await store?.countSessions()) ?? 0;
  await store?.close();
  context.print(toRecord(described, sessions), () => [
    describeDatabase(described),
    `${formatBytes(described.bytes)} in ${sessions} ${sessions === 1 ? "session" : "sessions"}`,
  ]);
  const problem = findStoreProblem(described);
  if (problem !== undefined) throw new CommandError(problem);
};

/** Why nothing could be written, with what to do. The first command that writes makes the tables. */
export function findStoreProblem(described: StoreDescription): string | undefined {
  if (described.kind === "sqlite" || described.write_refused === undefined) return undefined;
  const { schema } = described;
  const problems: Readonly<Record<WriteRefusal, string>> = {
    standby: "It is a standby that was not promoted, so it can only be read.",
    read_only:
      "It can only be read: default_transaction_read_only is on for this database or user.",
    tables: `This user may not write the tables: GRANT it INSERT, UPDATE and DELETE on ALL TABLES IN SCHEMA ${schema}.`,
    create_schema:
      "There are no tables yet, and this user may not make them: GRANT it CREATE on the database.",
    create_tables: `Tables are missing, and this user may not make them: GRANT it CREATE on SCHEMA ${schema}.`,
  };
  return problems[described.write_refused];
}

/** Renames `schema`: in a record, that field names the schema of the record. */
function toRecord(described: StoreDescription, sessions: number) {
  if (described.kind === "sqlite") return { ...described, sessions };
  const { schema: database_schema, ...rest } = described;
  return { ...rest, database_schema, sessions };
}

/** Renders the kind of a database and its address without credentials. */
export function describeDatabase(described: StoreDescription): string {
  const address = visibleLine(described.address);
  if (described.kind === "sqlite") return `SQLite, ${address}`;
  const { schema, server_version, version, is_encrypted } = described;
  const server = visibleLine(server_version.split(" ")[0] ?? "");
  const tables = version === undefined ? "no tables yet" : `tables of version ${version}`;
  const encryption = is_encrypted ? "encrypted" : "not encrypted";
  return `PostgreSQL ${server}, ${address}, schema ${schema}, ${tables}, connection ${encryption}`;
}

export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let amount = bytes;
  let unit = 0;
  for (; amount >= 1000 && unit < units.length - 1; unit += 1) amount /= 1000;
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}
