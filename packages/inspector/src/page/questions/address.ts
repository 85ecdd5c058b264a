// An address that a server asks the user to open: shown in parts, so that the host cannot hide in it, and only of kinds
// that a browser opens as a page.

type ShownAddress =
  | {
      readonly ok: true;
      readonly href: string;
      readonly before: string;
      readonly host: string;
      readonly after: string;
    }
  | { readonly ok: false; readonly why: string };

export function shownAddress(text: string): ShownAddress {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { ok: false, why: "This address cannot be opened." };
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return { ok: false, why: `Addresses of type ${url.protocol} are not opened from here.` };
  }
  const { href, host, username, password } = url;
  const login =
    username === "" && password === "" ? "" : `${username}${password === "" ? "" : ":…"}@`;
  return {
    ok: true,
    href,
    before: `${url.protocol}//${login}`,
    host,
    after: `${url.pathname}${url.search}${url.hash}`,
  };
}
