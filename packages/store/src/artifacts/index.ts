// The artifacts module: bytes kept outside the conversation, as files of a private directory; their records
// beside them, or as rows of a store.

export { hashFile } from "./artifact-sink.ts";
export {
  openFileArtifacts,
  type FileArtifacts,
  type FileArtifactsOptions,
} from "./file-artifacts.ts";
export * from "./private-directory.ts";
export * from "./session-artifacts.ts";
