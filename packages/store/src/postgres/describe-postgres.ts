// Describes a database, for a user who checks whether it can be used. Creates and changes nothing.

import type { PostgresDescription, WriteRefusal } from "../contract/describe.ts";
import { openConnections, type Connections } from "./connection.ts";
import { readAddress } from "./store-address.ts";
import { LATEST_VERSION, readVersion } from "./migrate.ts";

export async function describePostgres(
  url: string,
  answerTimeoutMs: number,
): Promise<PostgresDescription> {
  const address = readAddress(url);
  const { name, schema } = address;
  const connections = await openConnections(address, { readOnly: true, answerTimeoutMs });
  try {
    // The first query connects, so it is not timed.
    const [server] = await ask<ServerRow>(connections, SERVER);
    const before = Date.now();
    const sentAt = performance.now();
    const [clock] = await ask<{ now: number }>(connections, CLOCK);
    const latency_ms = performance.now() - sentAt;
    const version = await readVersion(connections, schema, Infinity);
    const [rights] = await ask<RightsRow>(connections, RIGHTS, [schema]);
    const [size] = await ask<{ bytes: number }>(connections, SIZE, [schema]);
    return {
      kind: "postgres",
      address: name,
      schema,
      version: version === 0 ? undefined : version,
      write_refused: findRefusal(rights, version),
      server_version: server?.version ?? "",
      is_encrypted: server?.ssl ?? false,
      latency_ms,
      clock_offset_ms: (clock?.now ?? before) - (before + latency_ms / 2),
      bytes: size?.bytes ?? 0,
    };
  } finally {
    await connections.close();
  }
}

interface ServerRow {
  readonly version: string;
  readonly ssl: boolean | null;
}

const SERVER = `SELECT current_setting('server_version') AS version,
  (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS ssl`;
const CLOCK =
  "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS double precision) AS now";
interface RightsRow {
  readonly is_standby: boolean;
  readonly is_read_only: boolean;
  /** Null while there is no schema: then it has to be made, too. */
  readonly may_create_tables: boolean | null;
  readonly may_create_schema: boolean;
  /** Null while there are no tables. */
  readonly may_write: boolean | null;
}

/** This connection is read-only itself, so the setting that others begin with is looked up. */
const RIGHTS = `SELECT pg_is_in_recovery() AS is_standby,
  (SELECT reset_val = 'on' FROM pg_settings WHERE name = 'default_transaction_read_only') AS is_read_only,
  has_schema_privilege(to_regnamespace($1)::oid, 'CREATE') AS may_create_tables,
  has_database_privilege(current_database(), 'CREATE') AS may_create_schema,
  (SELECT bool_and(has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE')
      AND has_table_privilege(c.oid, 'DELETE'))
    FROM pg_class c WHERE c.relnamespace = to_regnamespace($1)::oid AND c.relkind = 'r') AS may_write`;

function findRefusal(rights: RightsRow | undefined, version: number): WriteRefusal | undefined {
  if (rights === undefined) return undefined;
  if (rights.is_standby) return "standby";
  if (rights.is_read_only) return "read_only";
  if (version > 0 && rights.may_write === false) return "tables";
  if (version === LATEST_VERSION) return undefined;
  if (rights.may_create_tables === null) {
    return rights.may_create_schema ? undefined : "create_schema";
  }
  return rights.may_create_tables ? undefined : "create_tables";
}

const SIZE = `SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bigint) AS bytes
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'`;

async function ask<Row>(
  connections: Connections,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await connections.query({ text, values })).rows as Row[];
}
