// `file:` URLs in the arguments of a command, as the paths that they name.

export interface FileUrls {
  /** The argument without them. */
  readonly rest: string;
  /** As written and decoded, with and without what may be a query. */
  readonly paths: readonly string[];
}

export function takeFileUrls(argument: string): FileUrls {
  const paths: string[] = [];
  // A path may hold any character, so an argument that is a URL is one as a whole.
  const pattern = /^file:/i.test(argument) ? WHOLE : INSIDE;
  const rest = argument.replaceAll(pattern, (_, path: string) => {
    paths.push(...[path, path.replace(/[?#].*$/s, "")].flatMap((one) => [one, decode(one)]));
    return "";
  });
  return { rest, paths: [...new Set(paths)] };
}

/** curl writes out `{a,b}` and `[1-3]` itself: the directory before is all that is certain of such a path. */
export function directoryBeforeChoice(path: string): string | undefined {
  const [, before] = /^([^{[]*\/)[^/]*[{[]/.exec(path) ?? [];
  return before;
}

const WHOLE = /^file:(?:\/\/[^/]*)?(\/.*)$/gis;
const INSIDE = /\bfile:(?:\/\/[^/\s"'`]*)?(\/[^\s"'`;|&<>()]*)/gi;

function decode(path: string): string {
  return path.replaceAll(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}
