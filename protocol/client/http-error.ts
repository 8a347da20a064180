interface HttpErrorDetails {
  status: number;
  /** The `error` of the body; otherwise its text, or `status <n>`. */
  message: string;
  retryAfterMs: number | undefined;
}

/** An answer of the HTTP interface with an error status. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor({ status, message, retryAfterMs }: HttpErrorDetails) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same request can succeed later. */
  get retryable(): boolean {
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** Reads an error answer. A body that is not from the daemon becomes `status <n>`. */
export async function toHttpError(response: Response): Promise<HttpError> {
  const text = await response.text();
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new HttpError({
    status: response.status,
    message: errorOf(text) ?? `status ${response.status}`,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
  });
}

function errorOf(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text);
    const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
    return typeof error === 'string' ? error : undefined;
  } catch {
    // Plain text, as for an unknown path. HTML comes from a proxy and is not readable as a message.
    return text === '' || /^\s*</.test(text) ? undefined : text.slice(0, 200);
  }
}
