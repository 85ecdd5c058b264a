// Opens an address in the person's browser, where there is one. Best done, never needed: the address is on the screen.

import { spawn } from "node:child_process";

export function openBrowser(url: string, env: Readonly<Record<string, string | undefined>>): void {
  const isMac = process.platform === "darwin";
  const hasScreen = isMac || (env["DISPLAY"] ?? env["WAYLAND_DISPLAY"] ?? "") !== "";
  if (!hasScreen) return;
  const opener = spawn(isMac ? "open" : "xdg-open", [url], { stdio: "ignore", detached: true });
  opener.on("error", () => {});
  opener.unref();
}
