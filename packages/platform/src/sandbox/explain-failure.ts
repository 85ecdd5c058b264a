// What bubblewrap says when it cannot set up a sandbox, as what is wrong with the machine and what to do about it.

/** `said` is what it wrote to stderr; `status` how it ended. */
export function explainFailure(
  said: string,
  status: number | string,
): { readonly missing: string; readonly fix: string } {
  const words = readWords(said) || `it ended with ${status}`;
  const known = KNOWN.find(({ says }) => says.test(words));
  if (known === undefined) return { missing: `bubblewrap failed: ${words}`, fix: FIX_UNKNOWN };
  return { missing: `${known.means} (bubblewrap: ${words})`, fix: known.fix };
}

const FIX_UNKNOWN = "Try `bwrap --ro-bind / / --unshare-all true` in a terminal.";

const LONGEST_WORDS = 300;

/** Its first line; the command can have written the others. */
function readWords(said: string): string {
  const line = said.split("\n").find((text) => text.startsWith("bwrap: ")) ?? "";
  return line.slice("bwrap: ".length, LONGEST_WORDS).trim();
}

const IN_A_CONTAINER =
  "In a container: give it `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined` (Docker, Podman), or use a machine of its own as the sandbox and set sandbox.mode to off.";

/** By the words of bubblewrap; the first that fits. */
const KNOWN: readonly { readonly says: RegExp; readonly means: string; readonly fix: string }[] = [
  {
    says: /^execvp .*: (No such file|Permission denied)/,
    means:
      "the program cannot be run inside: it is masked, in a directory that is private inside (/tmp, /run, /var/tmp), or needs something that is",
    fix: "Put it in the project or in a directory of the system.",
  },
  {
    says: /^execvp /,
    means: "the program cannot be run inside",
    fix: "Run it with less, or another.",
  },
  {
    says: /^Race condition/,
    means: "a directory was replaced while the sandbox was set up",
    fix: "Run the command again.",
  },
  {
    says: /^Can't chdir/,
    means:
      "the working directory is not there inside: it is masked, or in a directory that is private inside (/tmp, /run, /var/tmp)",
    fix: "Use a working directory in the project.",
  },
  {
    says: /RTM_NEWADDR|loopback|setting up uid map: Permission denied/,
    means: "AppArmor restricts user namespaces here",
    fix: "Give bwrap an AppArmor profile with `userns,` (Ubuntu: apt install apparmor-profiles, then link bwrap-userns-restrict into /etc/apparmor.d), or run `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`.",
  },
  {
    says: /No permissions to creat(e|ing) new namespace|Creating new namespace failed: Operation not permitted/i,
    means: "this machine or container does not let this user create namespaces",
    fix: `${IN_A_CONTAINER} Elsewhere: \`sudo sysctl -w kernel.unprivileged_userns_clone=1\`.`,
  },
  {
    says: /Creating new namespace failed: (No space left|Too many)|nesting depth|max_\w+_namespaces/i,
    means: "the limit of namespaces is reached or 0",
    fix: "Raise it: `sudo sysctl -w user.max_user_namespaces=15000`.",
  },
  {
    says: /Creating new namespace failed: Invalid argument|kernel does not support/i,
    means: "this kernel has no user namespaces",
    fix: "Use a kernel with CONFIG_USER_NS.",
  },
  {
    says: /Can't mount proc|mount.*proc/i,
    means: "this container does not let its processes mount /proc",
    fix: IN_A_CONTAINER,
  },
  {
    says: /uid map|gid map|setgroups/,
    means: "the user ids of a new namespace cannot be set here",
    fix: IN_A_CONTAINER,
  },
  {
    says: /Failed to make \/ slave|pivot_root|Creating new namespace failed/,
    means: "namespaces cannot be used here",
    fix: IN_A_CONTAINER,
  },
  {
    says: /Unknown option|Exceeded maximum number of arguments/,
    means: "this version of bubblewrap is too old, or more is masked than it takes",
    fix: "Install bubblewrap 0.6 or newer.",
  },
  {
    says: /prctl\(PR_SET_SECCOMP\)|seccomp/i,
    means: "this kernel does not take seccomp filters",
    fix: "Use a kernel with CONFIG_SECCOMP_FILTER.",
  },
];
