// The errors of the file boundary: every refusal says what happened, at which path, and what to do. Paths
// are quoted as JSON, because a name may hold a line break.

import { ToolFailure, type ToolError } from "@soong/core";
import { invalidArguments } from "@soong/core/internal";
import { readErrno } from "@soong/platform";

export type NodeKind = "directory" | "fifo" | "socket" | "device" | "symlink";

export function invalidPath(given: string, why: string): ToolFailure {
  return invalidArguments(
    "invalid_path",
    `${JSON.stringify(given)} is not a usable path: ${why}. Give another path.`,
  );
}

export function isFileNotFound(error: unknown): boolean {
  return error instanceof ToolFailure && error.error.code === "file_not_found";
}

export function notARegularFile(path: string, kind: NodeKind): ToolFailure {
  const advice = kind === "directory" ? "List it instead." : "Only regular files are opened.";
  const says = `{} is a ${kind}, not a regular file. ${advice}`;
  return failAt(path, "not_a_regular_file", says, { details: { kind } });
}

export function notADirectory(path: string): ToolFailure {
  const says = "{} is not a directory, or something above it is not. Check the path.";
  return failAt(path, "not_a_directory", says);
}

export function accessDenied(path: string, why: string): ToolFailure {
  const says = `{}: ${why}. Change its rights first, or use another path.`;
  return failAt(path, "access_denied", says, { recovery: "ask_the_user" });
}

export function pathChanged(path: string): ToolFailure {
  return failAt(
    path,
    "path_changed",
    "What is at {} is not what was judged: a link or another directory was put " +
      "in its way meanwhile. Nothing was read or written. Ask again.",
    RETRY,
  );
}

export function changedSinceApproval(path: string, how: string): ToolFailure {
  const says = `{} ${how} since this change was planned. It is unchanged. Read it again and plan anew.`;
  return failAt(path, "changed_since_approval", says, RETRY);
}

export function fileTooLarge(path: string, maxBytes: number): ToolFailure {
  return failAt(
    path,
    "file_too_large",
    `{} is larger than ${maxBytes} bytes, the most that is read whole. Work on a part of it.`,
    {
      error_class: "result_too_large",
      recovery: "use_another_tool",
      details: { max_bytes: maxBytes },
    },
  );
}

/** What an error of the operating system at `path` means; what is not one goes through as it is. */
export function toPathFailure(error: unknown, path: string): unknown {
  const errno = readErrno(error);
  switch (errno) {
    case undefined:
      return error;
    case "ENOENT":
    case "ENOTDIR":
      return failAt(
        path,
        "file_not_found",
        "There is nothing at {}. Check the name, or list its directory.",
      );
    case "EACCES":
    case "EPERM":
      return accessDenied(path, "the operating system refuses access");
    case "EROFS":
      return accessDenied(path, "its file system is read-only");
    case "EISDIR":
      return notARegularFile(path, "directory");
    case "ELOOP":
      return pathChanged(path);
    case "ENAMETOOLONG":
      return invalidPath(path, "it is too long");
    case "ENOSPC":
    case "EDQUOT":
      return failAt(
        path,
        "disk_full",
        "There is no room left to write {}. It was left as it was. Free some space first.",
        { recovery: "ask_the_user" },
      );
    default: {
      const { syscall = "file" } = error as NodeJS.ErrnoException;
      const says = `{}: the operating system reports ${errno} (${syscall}). Look at the disk and try again.`;
      return failAt(path, "io_error", says, { recovery: "ask_the_user", details: { errno } });
    }
  }
}

const RETRY = { recovery: "retry", retryable: true } as const;

/** `{}` is replaced by the path. */
function failAt(
  path: string,
  code: string,
  says: string,
  { details, ...more }: Partial<ToolError> = {},
): ToolFailure {
  const message = says.replace("{}", () => JSON.stringify(path));
  const recovery = "change_arguments";
  return new ToolFailure({ code, message, recovery, ...more, details: { path, ...details } });
}
