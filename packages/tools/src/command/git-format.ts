// Formats for what git prints of a commit or a ref. Some fields start another program (`%G?` asks gpg),
// so only those that are known to be mere text are taken.

/** Git's own formats; any other name would be looked up in a config. */
const NAMED: ReadonlySet<string> = new Set(
  "oneline short medium full fuller reference raw email".split(" "),
);

const COMMIT_FIELD = [
  "[%nHhTtPpsbBfeNdDSm]",
  "x[0-9a-fA-F]{2}",
  "[ac][nNeElLdDrtiIsh]",
  "g[dDnNeEs]",
  "C(?:red|green|blue|reset)",
  String.raw`C\([a-z0-9#, ]*\)`,
  String.raw`[<>]{1,2}\|?\(\d+(?:,[a-z]+)?\)`,
];

const REF_FIELD = String.raw`\((?:HEAD|refname|objectname|objecttype|objectsize|upstream|push|symref|subject|(?:author|committer|tagger|creator)(?:name|email|date)?|contents:(?:subject|body)|color)(?::[a-z0-9=_.-]+)*\)`;

const FIELD = new RegExp(`%[-+ ]?(?:${[...COMMIT_FIELD, REF_FIELD].join("|")})`, "g");

export function isHarmlessGitFormat(format: string): boolean {
  const [, text] = /^t?format:(.*)$/s.exec(format) ?? [];
  if (text === undefined && !format.includes("%")) return NAMED.has(format);
  return !(text ?? format).replaceAll(FIELD, "").includes("%");
}
