// Programs of awk and jq, and formats of git, that read the files they are given and nothing else. The languages can do more:
// run commands, write, read other files, show the environment. What might be that is not taken.

/** Neither commands, pipes, redirections, other files, nor ways to reach them under another name. */
export function isHarmlessAwkProgram(program: string): boolean {
  const withoutOr = program.replaceAll("||", "");
  return !/[|>@]|\\\n|getline|system|ENVIRON|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO|\bload|\binclude/.test(
    withoutOr,
  );
}

/** Neither modules nor the environment. */
export function isHarmlessJqFilter(filter: string): boolean {
  return !/\b(?:import|include|modulemeta|get_search_list|env|ENV|input_filename)\b|\$__prog/.test(
    filter,
  );
}

/** Files that its arguments need not name: modules, whose names a filter may put together, or a program in a file. */
export function loadsJqFiles(args: readonly string[]): boolean {
  return args.some(
    (arg) =>
      // Letters may stand together: `-nf`.
      /^-[^-]*[fL]|^--(?:from-file|library-path)/.test(arg) || LOADS_MODULES.test(arg),
  );
}

/** Not the key of an object: `.include`, `{import}`. */
const LOADS_MODULES = /(?:^|[;\s])(?:import|include)\s*["#@]|\bmodulemeta\b/;

// What git prints of a commit or a ref. Some fields start another program (`%G?` asks gpg), so only those that are known to be mere
// text are taken.

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
