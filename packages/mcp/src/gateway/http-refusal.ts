// An answer of ours to a request that never reaches a client: HTTP status and JSON-RPC error together.

export function refusal(status: number, body: unknown, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: idOf(body), error: { code, message } }, { status });
}

function idOf(body: unknown): string | number | null {
  const id: unknown = (body as { id?: unknown } | null | undefined)?.id;
  return typeof id === "string" || typeof id === "number" ? id : null;
}
