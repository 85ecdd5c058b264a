// Opens an address in the user's browser, where there is one. Best effort, never needed: the address is on the screen.

import { findProgram, openForUser } from "@soong/platform";
import type { CommandContext } from "./context.ts";

export function openBrowser(url: string, { cwd, env }: Pick<CommandContext, "cwd" | "env">): void {
  const isMac = process.platform === "darwin";
  const hasScreen = isMac || (env["DISPLAY"] ?? env["WAYLAND_DISPLAY"] ?? "") !== "";
  if (!hasScreen) return;
  const places = { directory: "/", roots: { project: cwd, write: [] } };
  try {
    const opener = findProgram(isMac ? "open" : "xdg-open", places, { PATH: env["PATH"] ?? "" });
    openForUser(opener.found, [url], env);
  } catch {
    // There is none outside the project.
  }
}
