import type { Post } from '../../../egress/streamed-post.ts';
import type { Fetch } from '../provider.ts';

/** Sends posts through a `fetch`, so that a test needs a single server for all providers. */
export function postOver(fetch: Fetch): Post {
  return async (url, { headers, body, signal }) => {
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    const { status, statusText } = response;
    const reader = response.body?.getReader();
    return {
      status,
      statusText,
      headers: Object.fromEntries(response.headers),
      body: {
        async read() {
          const next = await reader?.read();
          return next?.value && [next.value];
        },
        cancel: () => void reader?.cancel(),
      },
    };
  };
}
