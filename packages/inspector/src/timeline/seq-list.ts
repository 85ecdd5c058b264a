// The seqs of a run's facts, in order and compact: a long session has hundreds of thousands of them.

export interface SeqList {
  readonly length: number;
  push(seq: number): void;
  slice(offset: number, limit: number): number[];
}

export function createSeqList(): SeqList {
  let kept = new Uint32Array(16);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(seq) {
      if (length === kept.length) {
        const longer = new Uint32Array(2 * kept.length);
        longer.set(kept);
        kept = longer;
      }
      kept[length] = seq;
      length += 1;
    },
    slice(offset, limit) {
      const from = Math.min(Math.max(0, offset), length);
      return Array.from(kept.subarray(from, Math.min(length, from + Math.max(0, limit))));
    },
  };
}
