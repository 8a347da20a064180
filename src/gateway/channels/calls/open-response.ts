import { askedWaitMs } from './asked-wait.ts';
import { BodyTooLarge, boundedBody, sizeOf } from './bounded-body.ts';
import type { CallWait } from './call-wait.ts';
import { reasonOf } from './failed-call.ts';
import type { OpenedFile } from './opened-file.ts';
import type { ServiceErrorDetails, ServiceErrorKind } from './service-error.ts';

interface Opening {
  maxBytes: number;
  /** Ends with the last byte. */
  wait: CallWait;
  /** Takes tokens out of a text. */
  scrub(text: string): string;
  /** As people call the service. */
  service: string;
  /** Its error. */
  toError(kind: ServiceErrorKind, message: string, details?: ServiceErrorDetails): Error;
}

/** The file of a response, up to a size. Throws and rejects with the error of the service only. */
export async function openResponse(response: Response, opening: Opening): Promise<OpenedFile> {
  const { maxBytes } = opening;
  const size = sizeOf(response);
  if (!response.ok || (size ?? 0) > maxBytes) {
    await response.body?.cancel();
    if (response.ok) throw tooLarge(opening);
    throw refusalOf(response, opening);
  }
  return { size, bytes: bytesOf(response, opening) };
}

/** Only a refusal of this very file is final. */
function refusalOf({ status: code, headers }: Response, { service, toError }: Opening): Error {
  if (code >= 500 || code === 408) return toError('ambiguous', `The download failed (HTTP ${code}).`, { code });
  const refused = `${service} refused the download (HTTP ${code}).`;
  if (code !== 429) return toError('rejected', refused, { code });
  return toError('rate-limited', refused, { code, retryAfterMs: askedWaitMs(headers.get('retry-after')) });
}

async function* bytesOf(response: Response, opening: Opening): AsyncGenerator<Uint8Array, void> {
  const { maxBytes, wait, scrub, toError } = opening;
  using _ = wait;
  try {
    yield* boundedBody(response, { maxBytes, onPiece: wait.restart });
  } catch (error) {
    if (error instanceof BodyTooLarge) throw tooLarge(opening);
    const reason = scrub(wait.overReason() ?? reasonOf(error));
    throw toError('ambiguous', `The download broke off (${reason}).`);
  }
}

const tooLarge = ({ maxBytes, toError }: Opening): Error =>
  toError('too-large', `The file has more than ${maxBytes} bytes.`);
