// Asks the agent in a separate session and streams the answer:
//   HEADGATE_TOKEN=… node ask.mjs "What is in this folder?"
// Calls that need approval wait for an approver (decide.mjs). Repeating the same RUN_KEY joins the same run.
import process from 'node:process';
import { ConnectionLostError, createGatewayClient, RequestError } from 'headgate/client';

const { HEADGATE_URL = 'ws://127.0.0.1:7717', HEADGATE_TOKEN, RUN_KEY = crypto.randomUUID() } = process.env;
const message = process.argv.slice(2).join(' ') || 'say hello';

const client = createGatewayClient({
  url: HEADGATE_URL,
  token: HEADGATE_TOKEN,
  client: { name: 'ask-example', version: '1.0.0', mode: 'cli' },
  onStatus(status) {
    if (status.kind === 'waiting') console.error(`${status.error.message}; again in ${status.retryInMs} ms`);
  },
});

let printed = '';
client.on('chat', ({ runId, message: answer }) => {
  if (runId !== RUN_KEY || answer === undefined) return;
  const text = answer.content.map((part) => part.text).join('');
  process.stdout.write(text.startsWith(printed) ? text.slice(printed.length) : `\n${text}`);
  printed = text;
});

/** Repeats a call that lost its connection. This is safe because the call has a key or only reads. */
async function callSafely(method, params) {
  for (;;) {
    try {
      return await client.call(method, params);
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw error;
    }
  }
}

try {
  await client.connect();
  const { runId } = await callSafely('chat.send', { sessionKey: 'example:ask', message, idempotencyKey: RUN_KEY });
  let run;
  do run = await callSafely('agent.wait', { runId, timeoutMs: 20_000 });
  while (run.status === 'timeout');
  console.log(`\n[${run.status}]`);
} catch (error) {
  console.error(error instanceof RequestError ? `${error.code}: ${error.message}` : error);
  process.exitCode = 1;
} finally {
  client.close();
}
