// Describes a database, for a user who checks whether it can be used. Creates and changes nothing.

import type { PostgresDescription } from "../contract/describe.ts";
import { openConnections, type Connections } from "./connection.ts";
import { readAddress } from "./store-address.ts";
import { readVersion } from "./migrate.ts";

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
      create_refused: findRefusal(rights),
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
/** `schema` is null while there is none: then it has to be made, too. */
interface RightsRow {
  readonly schema: boolean | null;
  readonly database: boolean;
}

const RIGHTS = `SELECT has_schema_privilege(to_regnamespace($1)::oid, 'CREATE') AS schema,
  has_database_privilege(current_database(), 'CREATE') AS database`;

function findRefusal({ schema, database }: Partial<RightsRow> = {}) {
  if (schema === null || schema === undefined) return database === true ? undefined : "database";
  return schema ? undefined : "schema";
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
