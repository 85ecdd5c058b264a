// What this browser keeps of how the page looks. A browser may refuse to keep anything.

const PREFIX = "soong-inspector-";

export function readKept(name: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // It is as it was after the next start.
  }
}
