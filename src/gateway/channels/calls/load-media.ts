import type { Clock } from '../../../clock.ts';
import { imageTypeOf, safeFileName } from '../../../content/file-kind.ts';
import { mediaTypeOf } from '../../../content/media-type.ts';
import { EgressError } from '../../../egress/guarded-egress.ts';
import { BodyTooLarge, boundedBody } from './bounded-body.ts';
import { CallWait } from './call-wait.ts';
import { reasonOf } from './failed-call.ts';

export interface MediaDeps {
  /** Refuses private addresses. */
  fetch(url: string, init: RequestInit): Promise<Response>;
  clock: Pick<Clock, 'sleep'>;
}

/** A file at an address, or why it could not be loaded. */
export type Media =
  | { kind: 'loaded'; bytes: Buffer; fileName: string; contentType: string; isImage: boolean }
  | { kind: 'failed'; why: string };

/** For an answer, and for each piece of the file. */
const TIMEOUT_MS = 30_000;

/** Loads a file that is sent with a message. Its bytes decide about its type, as far as they show it. */
export async function loadMedia(
  url: string,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
  { fetch, clock }: MediaDeps,
): Promise<Media> {
  using wait = new CallWait({ signal, timeoutMs: TIMEOUT_MS }, clock);
  try {
    const response = await fetch(url, { signal: wait.signal });
    if (!response.ok) {
      await response.body?.cancel();
      return failed(`HTTP ${response.status}`);
    }
    const pieces: Uint8Array[] = [];
    for await (const piece of boundedBody(response, { maxBytes, onPiece: wait.restart })) pieces.push(piece);
    return toMedia(Buffer.concat(pieces), { url, said: response.headers.get('content-type') });
  } catch (error) {
    return failed(whyNot(error, maxBytes) ?? wait.overReason() ?? reasonOf(error));
  }
}

function whyNot(error: unknown, maxBytes: number): string | undefined {
  if (error instanceof BodyTooLarge) return `it has more than ${maxBytes / 1024 / 1024} MiB`;
  const refused = error instanceof Error && error.cause instanceof EgressError ? error.cause : error;
  return refused instanceof EgressError ? refused.message : undefined;
}

const failed = (why: string): Media => ({ kind: 'failed', why });

function toMedia(bytes: Buffer, { url, said }: { url: string; said: string | null }): Media {
  if (bytes.length === 0) return failed('it is empty');
  const image = imageTypeOf(bytes);
  const media = mediaTypeOf(bytes);
  const contentType = image ?? media?.mime_type ?? said?.split(';')[0]?.trim() ?? '';
  return {
    kind: 'loaded',
    bytes,
    fileName: safeFileName(nameIn(url), image === undefined ? (media?.kind ?? 'text') : 'image'),
    contentType: /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : 'application/octet-stream',
    isImage: image !== undefined,
  };
}

function nameIn(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last; // a percent sign that means itself
  }
}
