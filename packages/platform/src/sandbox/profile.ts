// What a process in a sandbox may do (CMD-6). Whoever starts it says what is open; how the operating system closes the
// rest is behind this port.

export interface SandboxProfile {
  /** Directories and files that may be written: canonical, and there. All else is read-only. */
  readonly writable: readonly string[];
  /** Inside of them, and kept as they are: neither changed nor moved nor replaced. What is not there is skipped. */
  readonly fixed: readonly string[];
  /** Files and directories that can neither be read nor written, wherever they are. What is not there is skipped. */
  readonly masked: readonly string[];
  /** Names in writable directories under which nothing may come into being. What is there by now is fixed. */
  readonly absent: readonly string[];
  /** Why a host may not be reached; undefined where it may. Without this function the network is closed. */
  readonly refuseHost?: (host: string, port: number) => string | undefined;
  /** The patterns of the hosts that are open. A host of this machine or of a private network has to be one of them itself. */
  readonly openHosts?: readonly string[];
  /** Once for each host and port that is refused. */
  readonly onRefusedHost?: (refused: RefusedHost) => void;
}

export type SandboxState =
  | { readonly backend: "bubblewrap" | "seatbelt"; readonly version: string }
  | {
      /** Why there is none, as a clause: `bubblewrap is not installed`. */
      readonly missing: string;
      /** What to do about it, as a sentence. */
      readonly fix: string;
    };

/** A host that a process in the sandbox wanted and did not get. */
export interface RefusedHost {
  readonly host: string;
  readonly port: number;
  readonly why: string;
}

/** The sandbox of this machine, for all processes of one runtime. */
export interface Sandbox {
  /** Found out by trying it once, when it is first asked. */
  state(): SandboxState;
  /** Removes what it keeps for its processes, such as their directory for temporary files. */
  close(): void;
}
