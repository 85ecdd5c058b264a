// Output that arrives in pieces, cut at a byte that ends every record.

export interface Pieces {
  add(chunk: Buffer): void;
  /** What came after the last end. */
  rest(): Buffer;
}

export function createPieces(end: number, onRecord: (record: Buffer) => void): Pieces {
  let open: Buffer[] = [];
  return {
    add(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(end); at !== -1; at = chunk.indexOf(end, from)) {
        const record = chunk.subarray(from, at);
        from = at + 1;
        if (open.length === 0) onRecord(record);
        else {
          const whole = Buffer.concat([...open, record]);
          open = [];
          onRecord(whole);
        }
      }
      if (from < chunk.length) open.push(chunk.subarray(from));
    },
    rest: () => Buffer.concat(open),
  };
}
