// Programs that run no other program, with any arguments: the only ones of which a session grant
// covers any arguments (PERM-16). What is not listed here may run anything, which costs one more question.

import { baseName } from "../path.ts";

/** By the name it was called by and by the file that would really run. */
export function isPlainCommand(given: string, executable: string): boolean {
  return isOfTheSystem(executable) && namesOfProgram(given, executable).every(isPlainProgram);
}

export function isPlainProgram(name: string): boolean {
  return PLAIN.has(name);
}

/** A program given by its path is known by its name only in a folder of the system: `src/ls` may be anything. */
export function isOfTheSystem(given: string): boolean {
  return !/[\\/]/.test(given) || SYSTEM_FOLDER.test(given);
}

const SYSTEM_FOLDER =
  /^(?:\/usr(?:\/local)?)?\/s?bin\/[^/]+$|^\/(?:opt\/(?:homebrew|local)|run\/current-system\/sw)\/bin\/[^/]+$|^\/nix\/store\/[^/]+\/bin\/[^/]+$/;

/** The names a program may act by. One that is many programs acts by the name it is called by. */
export function namesOfProgram(given: string, executable: string): string[] {
  const [called, real] = [programName(given), programName(executable)];
  return called === real || MULTI_CALL.has(real) ? [called] : [called, real];
}

/** Without its folder and a Windows suffix. */
export function programName(path: string): string {
  return baseName(path.replaceAll("\\", "/"))
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|com|ps1)$/, "");
}

export const MULTI_CALL: ReadonlySet<string> = new Set(["busybox", "toybox", "coreutils"]);

const READ = `ls dir vdir cat tac rev head tail nl wc grep egrep fgrep uniq cut tr paste comm join fold fmt
  expand unexpand column od hexdump xxd strings base32 base64 basenc cksum sum md5sum sha1sum sha224sum
  sha256sum sha384sum sha512sum b2sum cmp diff stat readlink realpath basename dirname tree du df jq
  which which.debianutils whereis tsort ptx`;

const SAY = `pwd whoami id groups users who uname arch hostname hostid nproc uptime date cal echo
  true false test expr seq factor numfmt yes sleep tty logname printenv pathchk free ps pgrep`;

const WRITE = `rm rmdir mkdir touch cp mv ln link unlink chmod chown chgrp tee truncate mktemp mkfifo dd
  shred sync shuf csplit gzip gunzip bzip2 bunzip2 xz unxz kill pkill killall`;

/** Of those, what may write a file that an operand names. */
const READ_AND_WRITE: ReadonlySet<string> = new Set(["uniq", "xxd", "tree", "ptx", "base64"]);

/** A plain program that writes no file, with any arguments. */
export function isReadingProgram(name: string): boolean {
  return READING.has(name) && !READ_AND_WRITE.has(name);
}

/** Of a shell; a program of such a name does no more. */
const BUILTIN = `: [ [[ cd pushd popd dirs exit return break continue shift wait umask set times type
  ulimit`;

const wordsOf = (lists: readonly string[]): ReadonlySet<string> =>
  new Set(lists.flatMap((names) => names.split(/\s+/)));

const READING = wordsOf([READ, SAY, BUILTIN]);
const PLAIN = wordsOf([READ, SAY, WRITE, BUILTIN]);
