// What a user does first with the installed package: see a live session from its socket.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApprovalBroker, listLiveRuntimes, serveControl, watchSession } from "@soong/control";
import { createKernel } from "@soong/core";

const home = mkdtempSync(join(tmpdir(), "soong-control-"));
const session = await createKernel().openSession();
const broker = createApprovalBroker();
const { subject } = watchSession(session, { project: home, broker, secrets: [] });
const server = await serveControl(home, subject);
const { live } = await listLiveRuntimes(home);
if (live[0]?.hello.session_id !== session.session_id) throw new Error("the session is not listed");
await session.close();
await server?.close();
rmSync(home, { recursive: true });
