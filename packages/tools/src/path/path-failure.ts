// The errors of the file boundary: one function an error, so that every refusal says what happened, at
// which path, and what to do. Paths are quoted as JSON, because a name may hold a line break.

import { ToolFailure } from "@soong/core";
import { errnoOf } from "@soong/platform";

export type NodeKind = "directory" | "fifo" | "socket" | "device" | "symlink";

export function invalidPath(given: string, why: string): ToolFailure {
  return new ToolFailure({
    code: "invalid_path",
    error_class: "invalid_arguments",
    message: `${shown(given)} is not a usable path: ${why}. Give another path.`,
    recovery: "change_arguments",
  });
}

export function fileNotFound(path: string): ToolFailure {
  return new ToolFailure({
    code: "file_not_found",
    message: `There is nothing at ${shown(path)}. Check the name, or list its directory.`,
    recovery: "change_arguments",
    details: { path },
  });
}

export function notARegularFile(path: string, kind: NodeKind): ToolFailure {
  const advice = kind === "directory" ? "List it instead." : "Only regular files are opened.";
  return new ToolFailure({
    code: "not_a_regular_file",
    message: `${shown(path)} is a ${kind}, not a regular file. ${advice}`,
    recovery: "change_arguments",
    details: { path, kind },
  });
}

export function notADirectory(path: string): ToolFailure {
  return new ToolFailure({
    code: "not_a_directory",
    message: `${shown(path)} is not a directory, or something above it is not. Check the path.`,
    recovery: "change_arguments",
    details: { path },
  });
}

export function accessDenied(path: string, why: string): ToolFailure {
  return new ToolFailure({
    code: "access_denied",
    message: `${shown(path)}: ${why}. Change its rights first, or use another path.`,
    recovery: "ask_the_user",
    details: { path },
  });
}

export function pathChanged(path: string): ToolFailure {
  return new ToolFailure({
    code: "path_changed",
    message:
      `What stands at ${shown(path)} is not what was judged: a link or another directory was put ` +
      `in its way meanwhile. Nothing was read or written. Ask again.`,
    recovery: "retry",
    retryable: true,
    details: { path },
  });
}

export function changedSinceApproval(path: string, how: string): ToolFailure {
  return new ToolFailure({
    code: "changed_since_approval",
    message: `${shown(path)} ${how} since this change was planned. It was left alone. Read it again and plan anew.`,
    recovery: "retry",
    retryable: true,
    details: { path },
  });
}

export function fileTooLarge(path: string, maxBytes: number): ToolFailure {
  return new ToolFailure({
    code: "file_too_large",
    error_class: "result_too_large",
    message: `${shown(path)} is larger than ${maxBytes} bytes, the most that is read whole. Work on a part of it.`,
    recovery: "use_another_tool",
    details: { path, max_bytes: maxBytes },
  });
}

/** What an error of the operating system at `path` means; what is not one goes through as it is. */
export function failureOf(error: unknown, path: string): unknown {
  switch (errnoOf(error)) {
    case undefined:
      return error;
    case "ENOENT":
    case "ENOTDIR":
      return fileNotFound(path);
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
      return diskFull(path);
    default:
      return ioError(path, error as NodeJS.ErrnoException);
  }
}

function diskFull(path: string): ToolFailure {
  return new ToolFailure({
    code: "disk_full",
    message: `There is no room left to write ${shown(path)}. It was left as it was. Free some space first.`,
    recovery: "ask_the_user",
    details: { path },
  });
}

function ioError(path: string, error: NodeJS.ErrnoException): ToolFailure {
  const errno = error.code ?? "unknown";
  return new ToolFailure({
    code: "io_error",
    message: `${shown(path)}: the operating system reports ${errno} (${error.syscall ?? "file"}). Look at the disk and try again.`,
    recovery: "ask_the_user",
    details: { path, errno },
  });
}

function shown(path: string): string {
  return JSON.stringify(path);
}
