// What we use of the SQLite inside Node 24; the types we build with are those of Node 20.

declare module "node:sqlite" {
  export const DatabaseSync: new (
    path: string,
    options?: { readonly readOnly?: boolean; readonly timeout?: number },
  ) => {
    exec(sql: string): void;
    close(): void;
    prepare(sql: string): {
      run(...values: (string | number | null | Uint8Array)[]): { changes: number | bigint };
      get(...values: (string | number | null | Uint8Array)[]): unknown;
      all(...values: (string | number | null | Uint8Array)[]): unknown[];
    };
  };
}
