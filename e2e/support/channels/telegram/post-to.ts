/** An answer of the Bot API. */
export interface BotAnswer {
  ok: boolean;
  result?: unknown;
  error_code?: number;
  description?: string;
  parameters?: Record<string, number>;
}

/** Calls the server without the product's client. */
export async function postTo(
  { apiRoot, token }: { apiRoot: string; token: string },
  method: string,
  { signal, ...params }: { signal?: AbortSignal; [name: string]: unknown },
): Promise<BotAnswer> {
  const response = await fetch(`${apiRoot}/bot${token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(params),
    ...(signal && { signal }),
  });
  const answer = await response.json();
  return { ...answer };
}
