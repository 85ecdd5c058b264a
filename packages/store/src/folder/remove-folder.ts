// Removes a run's folder with all that is in it. Links are removed, never followed.

import { chmodSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

export function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    // Tools leave directories they made read-only (a module cache does): those are ours all the same.
    openUp(path);
    rmSync(path, { recursive: true, force: true });
  }
}

function openUp(path: string): void {
  if (!lstatSync(path).isDirectory()) return;
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) openUp(join(path, entry.name));
  }
}
