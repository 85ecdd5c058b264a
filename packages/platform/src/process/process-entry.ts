// What is known of one running process, whichever way the system tells.

export interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  /** 0 where the system does not tell. */
  session: number;
  /** A zombie has ended: it only waits for its parent to notice. */
  ended: boolean;
  /**
   * Unknown while it is just being replaced by another program, when its environment reads empty, and
   * when it has gone meanwhile.
   */
  environmentHolds(text: Buffer): boolean | "unknown";
}

export interface ProcessTable {
  entries: ProcessEntry[];
  /** Some went while the table was read, and may have started others that are not in it. */
  hasGaps: boolean;
}
