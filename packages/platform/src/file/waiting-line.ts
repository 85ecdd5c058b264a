// The waiting line of this process for one key: first come, first served, and whoever gives up steps out.

/** Resolves when it is this caller's turn, with the function that ends the turn. */
export async function queueFor(key: string, signal: AbortSignal): Promise<() => void> {
  signal.throwIfAborted();
  const line = LINES.get(key);
  if (line === undefined) {
    LINES.set(key, []);
  } else {
    await myTurn(line, signal);
  }
  return () => {
    callNext(key);
  };
}

/** A key is there while somebody has the turn; its value are those who wait behind. */
const LINES = new Map<string, (() => void)[]>();

function callNext(key: string): void {
  const next = LINES.get(key)?.shift();
  if (next === undefined) {
    LINES.delete(key);
  } else {
    next();
  }
}

function myTurn(line: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const called = (): void => {
      signal.removeEventListener("abort", stepOut);
      resolve();
    };
    const stepOut = (): void => {
      line.splice(line.indexOf(called), 1);
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", stepOut, { once: true });
    line.push(called);
  });
}
