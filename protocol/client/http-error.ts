import { isRecord } from '../is-record.ts';

interface HttpErrorDetails {
  status: number;
  /** The `error` of the body; otherwise its text, or `status <n>`. */
  message: string;
  retryAfterMs: number | undefined;
  /** Names the request in the log of the daemon. */
  requestId?: string | undefined;
}

/** An answer of the HTTP interface with an error status. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** Names the request in the log of the daemon; undefined if the answer is not from the daemon. */
  readonly requestId: string | undefined;

  constructor({ status, message, retryAfterMs, requestId }: HttpErrorDetails) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.requestId = requestId;
  }

  /** Whether the same request can succeed later. */
  get retryable(): boolean {
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** Reads an error answer. A body that is not from the daemon becomes `status <n>`. */
export async function toHttpError(response: Response): Promise<HttpError> {
  const { error, requestId } = told(await response.text());
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new HttpError({
    status: response.status,
    message: error ?? `status ${response.status}`,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
    // Errors in plain text have only the header. A page of another origin can read only the body.
    requestId: requestId ?? response.headers.get('x-request-id') ?? undefined,
  });
}

interface Told {
  error?: string | undefined;
  requestId?: string | undefined;
}

function told(text: string): Told {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) ? { error: textOf(body.error), requestId: textOf(body.request_id) } : {};
  } catch {
    // Plain text, as for an unknown path. HTML comes from a proxy and is not readable as a message.
    return text === '' || /^\s*</.test(text) ? {} : { error: text.slice(0, 200) };
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
