import type { Fetch } from './provider.ts';

/**
 * A `fetch` that passes every chunk of a successful response's body to `look` before the reader gets it. An error from
 * `look` ends the body and its connection.
 */
export function withMeter(fetch: Fetch, look: (bytes: Uint8Array) => void): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!response.ok || response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(meter(response.body, look), { status, statusText, headers });
  };
}

function meter(body: ReadableStream<Uint8Array>, look: (bytes: Uint8Array) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      try {
        look(value);
      } catch (error) {
        reader.cancel(error).catch(() => undefined); // the stream has already failed
        throw error;
      }
      controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  };
  // Reads nothing ahead of its reader.
  return new ReadableStream(source, { highWaterMark: 0 });
}
