// @soong/store: what outlives a process. For now the artifacts: bytes on disk behind the kernel's interface.

export * from "./artifacts/index.ts";
