// Programs of awk and jq that read the files they are given and nothing else. Both languages can do more:
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
