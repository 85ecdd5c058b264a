// The token of this page: it comes in the fragment of the address that `soong inspect` prints, which is never sent, and
// is kept for this tab only. The address does not show it for longer than it takes to read it.

const KEY = "soong-inspector-token";

interface Places {
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  location: { hash: string; pathname: string };
  history: Pick<History, "replaceState">;
}

/** Of the address, else the one that is kept. */
export function takeToken({ storage, location, history }: Places): string | undefined {
  const given = findToken(location.hash);
  if (given === undefined) return storage.getItem(KEY) ?? undefined;
  storage.setItem(KEY, given);
  history.replaceState(null, "", `${location.pathname}#/`);
  return given;
}

export function keepToken(storage: Places["storage"], token: string): void {
  storage.setItem(KEY, token);
}

/** A token that was refused is not tried again. */
export function dropToken(storage: Places["storage"]): void {
  storage.removeItem(KEY);
}

/** What the user pasted: the printed line, an address, or the token alone. */
export function findToken(text: string): string | undefined {
  return /(?:^|#)token=([\w.~-]+)/.exec(text)?.[1];
}

export function readPastedToken(text: string): string | undefined {
  const trimmed = text.trim();
  return findToken(trimmed) ?? (/^[\w.~-]{8,}$/.test(trimmed) ? trimmed : undefined);
}
