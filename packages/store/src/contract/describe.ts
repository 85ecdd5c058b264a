// What `describeStore` finds of a store.

export type StoreDescription = SqliteDescription | PostgresDescription;

export interface SqliteDescription {
  readonly kind: "sqlite";
  /** The file of the database. */
  readonly address: string;
  readonly is_there: boolean;
  /** Of the database and of the artifacts. */
  readonly bytes: number;
}

export interface PostgresDescription {
  readonly kind: "postgres";
  /** Without credentials. */
  readonly address: string;
  readonly schema: string;
  /** Of the tables; undefined where there are none yet. */
  readonly version: number | undefined;
  /** Why this user cannot write here; undefined: it can. */
  readonly write_refused: WriteRefusal | undefined;
  readonly server_version: string;
  readonly is_encrypted: boolean;
  /** Of one question, there and back. */
  readonly latency_ms: number;
  /** How far its clock is ahead of this machine's. */
  readonly clock_offset_ms: number;
  /** Of all its tables. */
  readonly bytes: number;
}

/** A server or user that can only read, tables that the user may not write, or a lack of the right to make them. */
export type WriteRefusal = "standby" | "read_only" | "tables" | "create_schema" | "create_tables";
