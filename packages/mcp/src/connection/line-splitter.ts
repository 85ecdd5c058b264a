// Bytes to lines, as they come. A line that does not end is given up before it fills the memory.

export interface LineSplitter {
  /** The lines that are complete now. Throws a LineTooLong; nothing can be read after that. */
  push(bytes: Buffer): string[];
}

export class LineTooLong extends Error {}

export function createLineSplitter(maxLineBytes: number): LineSplitter {
  let parts: Buffer[] = [];
  let partsBytes = 0;

  return {
    push(bytes) {
      const lines: string[] = [];
      let start = 0;
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
        keep(bytes.subarray(start, end));
        const line = Buffer.concat(parts).toString("utf8");
        parts = [];
        partsBytes = 0;
        start = end + 1;
        lines.push(line.endsWith("\r") ? line.slice(0, -1) : line);
      }
      if (start < bytes.length) keep(bytes.subarray(start));
      return lines;
    },
  };

  function keep(bytes: Buffer): void {
    partsBytes += bytes.length;
    if (partsBytes > maxLineBytes) {
      parts = [];
      throw new LineTooLong();
    }
    parts.push(bytes);
  }
}
