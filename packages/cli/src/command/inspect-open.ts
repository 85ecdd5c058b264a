// Opens the page in the person's browser. With what a program is started every user of the machine can see, and the address
// has the token in it: so the browser is handed a file that only this user can read, and which leads there.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { CommandContext } from "./context.ts";
import { openBrowser } from "./open-browser.ts";

/** The function takes the file away. */
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
