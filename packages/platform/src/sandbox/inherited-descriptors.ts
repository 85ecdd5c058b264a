// Descriptors that the runtime has from its own parent, which every child would have too. What they lead to is outside of the
// sandbox: a terminal of an editor, a socket, a directory.

import { readdirSync, readFileSync } from "node:fs";

const CLOSED_ON_EXEC = 0o2000000;

let inherited: readonly number[] | undefined;

/** For `stdio` of a child from that position on: `empty` in the place of each of them. Those of Node itself are not passed on. */
export function coverInherited(from: number, empty: number): ("ignore" | number)[] {
  inherited ??= findInherited();
  const last = Math.max(from - 1, ...inherited);
  return Array.from({ length: last + 1 - from }, (_, index) =>
    inherited?.includes(from + index) === true ? empty : "ignore",
  );
}

function findInherited(): number[] {
  const all = readdirSync("/proc/self/fdinfo").map(Number);
  return all.filter((descriptor) => {
    try {
      const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1");
      const flags = Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(text)?.[1] ?? "0", 8);
      return (flags & CLOSED_ON_EXEC) === 0;
    } catch {
      // That of the listing itself.
      return false;
    }
  });
}
