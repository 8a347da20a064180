import type { Fetch } from './provider.ts';

/**
 * `fetch` that shows every piece of a successful answer's body to `look` before anybody reads it. What `look` throws
 * breaks the body off, and the connection with it.
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
        reader.cancel(error).catch(() => undefined); // it is broken already
        throw error;
      }
      controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  };
  // Nothing is read ahead of whoever reads the answer.
  return new ReadableStream(source, { highWaterMark: 0 });
}
