import { isLoopbackHost } from '../origin-policy.ts';
import { ProviderError } from './provider-error.ts';

/** More than the metadata and keys of any provider. */
const MAX_BYTES = 512 * 1024;

/** What both packages send. */
interface ProviderRequest {
  method: string;
  headers: HeadersInit;
  /** A form, if any. */
  body?: unknown;
  signal?: AbortSignal | undefined;
}

/**
 * Requests to the provider, whose metadata may name any address: https only, unless the provider itself is on this
 * machine, and with answers of a limited size. Redirects and metadata addresses are refused by the `fetch` given.
 */
export function createBoundedFetch({ fetch, issuer }: { fetch: typeof globalThis.fetch; issuer: string }) {
  return async (address: string, init: ProviderRequest): Promise<Response> => {
    requireSecure(address, issuer);
    const { method, headers: sent, body, signal } = init;
    if (body != null && !(body instanceof URLSearchParams)) throw new TypeError('only forms are sent to the provider');
    const response = await fetch(address, {
      method,
      headers: sent,
      ...(body != null && { body }),
      ...(signal !== undefined && { signal }),
    });
    const bytes = await readBody(response);
    const { status, statusText, headers } = response;
    return new Response(bytes.byteLength === 0 ? null : bytes, { status, statusText, headers: new Headers(headers) });
  };
}

/** Throws for an address at which others could read or change what is sent. */
export function requireSecure(address: string, issuer: string): void {
  const url = URL.parse(address);
  if (url?.protocol === 'https:') return;
  const isLocal = url?.protocol === 'http:' && isLoopbackHost(url.host) && issuer.startsWith('http:');
  if (!isLocal) throw new ProviderError('provider_unavailable', 'the provider names an address without https');
}

async function readBody({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  if (body === null) return new Uint8Array();
  for await (const piece of body) {
    size += piece.byteLength;
    if (size > MAX_BYTES)
      throw new ProviderError('provider_unavailable', `an answer of more than ${MAX_BYTES / 1024} KiB`);
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces));
}
