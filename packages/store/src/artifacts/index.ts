// The artifacts room: bytes kept outside the conversation, as files of one private directory.

export {
  openFileArtifacts,
  type FileArtifacts,
  type FileArtifactsOptions,
} from "./file-artifacts.ts";
