// The token of `soong mcp serve --http`: made at random once and kept in the home for its owner alone, so that what a
// host's config says holds at the next start, too.

import { randomBytes, randomUUID } from "node:crypto";
import { link, mkdir, open, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError, UsageError, visibleLine } from "../../output/index.ts";
import { homePaths } from "../../runtime/home.ts";

const MAX_BYTES = 4096;
/** What fits behind `Bearer`, and is not guessed. */
const TOKEN = /^[\w.~+/=-]{16,}$/;

export interface ServeToken {
  readonly token: string;
  /** Where it is kept. */
  readonly tokenFile: string;
}

/** `given`: a file the user names instead; what is odd about it is noted. Either is made where it is not there. */
export async function loadServeToken(
  home: string,
  given: string | undefined,
  note: (text: string) => void,
): Promise<ServeToken> {
  const file = given ?? homePaths(home).gatewayToken;
  await make(file);
  const { token, isSeenByOthers } = await readToken(file);
  if (!TOKEN.test(token)) {
    throw new UsageError(
      `${visibleLine(file)} holds no token: one word of at least 16 letters and digits. ${given === undefined ? "Delete it, and a new one is made." : "Put one there, or name a file that is not there, and one is made."}`,
    );
  }
  if (isSeenByOthers && given === undefined) {
    throw new UsageError(
      `${visibleLine(file)} can be read by others, so its token is not secret. Delete it, and a new one is made.`,
    );
  }
  if (isSeenByOthers) note(`warning: ${visibleLine(file)} can be read by others.`);
  return { token, tokenFile: file };
}

/** Whole from the first moment: of two who start together, one makes it. */
async function make(file: string): Promise<void> {
  if ((await stat(file).catch(unlessMissing)) !== undefined) return;
  const next = `${file}.${randomUUID()}`;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  try {
    await writeFile(next, `${randomBytes(32).toString("base64url")}\n`, {
      flag: "wx",
      mode: 0o600,
    });
    await link(next, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(next, { force: true });
  }
}

async function readToken(file: string): Promise<{ token: string; isSeenByOthers: boolean }> {
  const handle = await open(file, "r");
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw new CommandError(`${visibleLine(file)} is a directory.`);
    let text = "";
    const stream = handle.createReadStream({ end: MAX_BYTES - 1, autoClose: false });
    for await (const chunk of stream.setEncoding("utf8")) text += chunk as string;
    return { token: text.trim(), isSeenByOthers: stats.isFile() && (stats.mode & 0o077) !== 0 };
  } finally {
    await handle.close();
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
