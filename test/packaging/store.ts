// What a stranger does first with the installed package: keep bytes and read them back.

import { openFileArtifacts } from "@soong/store";

const artifacts = await openFileArtifacts({ directory: "./kept" });
const about = { media_type: "text/plain", session_id: "s", run_id: "r" };
const { artifact_id } = await artifacts.write("hello", about);
const bytes = await artifacts.read(artifact_id, { offset: 1, length: 3 });
if (new TextDecoder().decode(bytes) !== "ell") throw new Error("the bytes are not what was kept");
