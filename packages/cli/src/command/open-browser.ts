// Opens an address in the user's browser, where there is one. Best effort, never needed: the address is on the screen.

import { findProgram, openForUser } from "@soong/platform";
import type { CommandContext } from "./handler.ts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

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

/**
 * Every user of the machine sees the arguments a program is started with, and this address has the token in it: so the
 * browser is given a file that only this user can read, and which leads there. The function removes the file.
 */
export async function openPage(
  url: string,
  context: Pick<CommandContext, "cwd" | "env">,
): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "soong-inspect-"));
  const file = join(folder, "open.html");
  await writeFile(file, leadingTo(url), { mode: 0o600 });
  openBrowser(pathToFileURL(file).href, context);
  return () => rm(folder, { recursive: true, force: true });
}

/** An address of the inspector has nothing in it that would have to be escaped. */
function leadingTo(url: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<title>soong inspect</title>
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${url}">
<a href="${url}">Open the inspector</a>
`;
}
