import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { Dispatcher } from 'undici';

/** A POST whose response is read while it arrives, at a fraction of the cost of `fetch` and its web streams. */
export type Post = (url: string, request: PostRequest) => Promise<PostResponse>;

export interface PostRequest {
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
  /** Has no deadline of its own. Aborting closes the connection in every phase. */
  signal: AbortSignal;
}

export interface PostResponse {
  status: number;
  statusText: string;
  headers: Record<string, string>;
  body: ArrivingBytes;
}

/** A body, decoded from its Content-Encoding. Cancel it unless it was read to its end. */
export interface ArrivingBytes {
  /** Resolves with everything that has arrived since the last call, at least one piece; undefined at the end. */
  read(): Promise<Uint8Array[] | undefined>;
  cancel(): void;
}

/** Sends a POST through a dispatcher. Follows no redirect. */
export const postThrough = (dispatcher: Dispatcher, url: URL, request: PostRequest): Promise<PostResponse> =>
  sendThrough(dispatcher, url, { ...request, method: 'POST' });

/** A request whose response is read while it arrives. */
interface StreamedRequest extends Omit<PostRequest, 'body'> {
  method: 'GET' | 'POST';
  body: PostRequest['body'] | null;
}

/** Sends a request through a dispatcher. Follows no redirect. */
export async function sendThrough(dispatcher: Dispatcher, url: URL, request: StreamedRequest): Promise<PostResponse> {
  const { method, headers, body, signal } = request;
  signal.throwIfAborted();
  const arriving = new ArrivingBody();
  const { promise, resolve, reject } = Promise.withResolvers<PostResponse>();
  const stop = () => {
    reject(signal.reason);
    arriving.stop(signal.reason);
  };
  signal.addEventListener('abort', stop, { once: true });
  arriving.onceOver(() => signal.removeEventListener('abort', stop));
  const path = `${url.pathname}${url.search}`;
  dispatcher.dispatch(
    { origin: url.origin, path, method, headers, body, headersTimeout: 0, bodyTimeout: 0 },
    {
      onRequestStart: (controller) => arriving.begin(controller),
      // biome-ignore lint/complexity/useMaxParams: undici calls it.
      onResponseStart(_, status, received, statusText = '') {
        if (status < 200) return; // announces the response
        const named = toHeaders(received);
        arriving.decode(named['content-encoding']);
        resolve({ status, statusText, headers: named, body: arriving });
      },
      onResponseData: (_, bytes) => arriving.push(bytes),
      onResponseEnd: () => arriving.end(),
      onResponseError(_, error) {
        arriving.fail(error);
        reject(error);
      },
    },
  );
  return promise;
}

/** More than this is not buffered: the connection pauses until it has been read. */
const MAX_WAITING_BYTES = 256 * 1024;

class ArrivingBody implements ArrivingBytes {
  #controller: Dispatcher.DispatchController | undefined;
  #decoder: Transform | undefined;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #over: { error: unknown } | 'ended' | undefined;
  #wake: () => void = () => undefined;
  #onOver: () => void = () => undefined;

  onceOver(onOver: () => void): void {
    this.#onOver = onOver;
  }

  begin(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (typeof this.#over === 'object') controller.abort(asError(this.#over.error));
  }

  /** Servers are asked for plain text, but some compress it nevertheless. */
  decode(encodings: string | undefined): void {
    const decoder = decoderFor(encodings);
    if (!decoder) return;
    this.#decoder = decoder;
    decoder.on('data', (bytes: Uint8Array) => this.#take(bytes));
    decoder.once('end', () => this.#finish('ended'));
    decoder.on('error', (error) => this.stop(error));
  }

  push(bytes: Uint8Array): void {
    if (this.#decoder) this.#decoder.write(bytes);
    else this.#take(bytes);
  }

  end(): void {
    if (this.#decoder) this.#decoder.end();
    else this.#finish('ended');
  }

  fail(error: unknown): void {
    this.#finish({ error });
  }

  /** Ends the body with an error and closes its connection. */
  stop(error: unknown): void {
    if (this.#over === 'ended') return;
    this.#finish({ error });
    this.#controller?.abort(asError(error));
    this.#decoder?.destroy();
  }

  async read(): Promise<Uint8Array[] | undefined> {
    if (this.#pieces.length === 0 && this.#over === undefined) {
      // Continues after the socket's read, so pieces that arrived together are taken together.
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
    if (this.#pieces.length > 0) return this.#takeAll();
    if (typeof this.#over === 'object') throw this.#over.error;
    return undefined;
  }

  cancel(): void {
    if (this.#over !== undefined) return; // the usual case, in which the exception below would be made for nothing
    this.stop(new DOMException('The answer is no longer read.', 'AbortError'));
  }

  #takeAll(): Uint8Array[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    if (this.#controller?.paused) this.#controller.resume();
    if (this.#decoder?.isPaused()) this.#decoder.resume();
    return pieces;
  }

  #take(bytes: Uint8Array): void {
    if (this.#over !== undefined) return;
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_WAITING_BYTES) {
      this.#controller?.pause();
      this.#decoder?.pause();
    }
    this.#wake();
  }

  #finish(over: { error: unknown } | 'ended'): void {
    if (this.#over !== undefined) return;
    this.#over = over;
    this.#onOver();
    this.#wake();
  }
}

function toHeaders(received: Record<string, string | string[] | undefined>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(received)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

/** Bytes in an unknown encoding, or in several, are passed on as they are. */
function decoderFor(encoding: string | undefined): Transform | undefined {
  switch (encoding?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress();
    default:
      return undefined;
  }
}

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));
