// Creates a workstream, sends it one message over HTTP and prints the answer from its event stream:
//   HEADGATE_TOKEN=… node http-send.mjs "Say hello."
import process from 'node:process';
import { createHttpClient, endpoints, HttpError } from 'headgate/http';

const { HEADGATE_URL = 'http://127.0.0.1:7717', HEADGATE_TOKEN } = process.env;
const message = process.argv.slice(2).join(' ') || 'Say hello.';
const http = createHttpClient({ baseUrl: HEADGATE_URL, token: HEADGATE_TOKEN });

/** Repeats a call whose answer was lost. With the same key, it takes effect once. */
async function callSafely(endpoint, request) {
  const idempotencyKey = crypto.randomUUID();
  for (let attempt = 1; ; attempt++) {
    try {
      return await http.call(endpoint, request, { idempotencyKey, timeoutMs: 10_000 });
    } catch (error) {
      const isLasting = error instanceof HttpError && !error.retryable;
      if (isLasting || attempt === 5) throw error;
      await new Promise((resolve) => setTimeout(resolve, error.retryAfterMs ?? 1000 * attempt));
    }
  }
}

/** The stream begins with the history, so no event of the run is missed. After a lost connection it resumes. */
async function printAnswer(ws_id, run_id) {
  for await (const { event } of http.events(ws_id)) {
    if (event.type === 'content') process.stdout.write(event.text);
    else if (event.type === 'ws_state' && event.run?.run_id === run_id) break;
  }
  console.log();
}

try {
  // Without a name, the daemon chooses one.
  const { ws_id } = await callSafely(endpoints.workstream.create, {});
  try {
    const { run_id } = await callSafely(endpoints.workstream.send, { ws_id, message });
    await printAnswer(ws_id, run_id);
  } finally {
    await http.call(endpoints.workstream.close, { ws_id });
  }
} catch (error) {
  console.error(error instanceof HttpError ? `${error.status}: ${error.message}` : error);
  process.exitCode = 1;
}
