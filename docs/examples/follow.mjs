// Prints every event of a workstream once, across reconnects and restarts of this program and of the daemon:
//   HEADGATE_TOKEN=… node follow.mjs WS_ID cursor.txt
// The file holds the cursor of the last handled event. Nothing else is needed to resume.
import { readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { createGatewayClient } from 'headgate/client';

const { HEADGATE_URL = 'ws://127.0.0.1:7717', HEADGATE_TOKEN } = process.env;
const [wsId = '', cursorFile = 'cursor.txt'] = process.argv.slice(2);

const client = createGatewayClient({
  url: HEADGATE_URL,
  token: HEADGATE_TOKEN,
  client: { name: 'follow-example', version: '1.0.0', mode: 'cli' },
  onGap: ({ expected, received }) => console.error(`broadcasts ${expected} to ${received - 1} were missed`),
});

const subscription = client.subscribe(wsId, {
  after: await readFile(cursorFile, 'utf8').catch(() => undefined),
  onSnapshot: ({ messages }, cursor) => console.log(`${cursor} snapshot of ${messages.length} messages`),
  onEvent: (event, cursor) => console.log(`${cursor} ${event.type}`),
  onReset: (reason) => console.log(`starting anew: ${reason ?? 'no reason given'}`),
  onError: (error) => stop(error), // refused, or the token was revoked: the subscription has ended
});

/** Stores the cursor and exits, with code 1 if there was an error. */
async function stop(error) {
  if (error !== undefined) console.error(`${error.name}: ${error.message}`);
  client.close();
  if (subscription.cursor !== undefined) await writeFile(cursorFile, subscription.cursor);
  process.exit(error === undefined ? 0 : 1);
}

process.once('SIGTERM', () => stop()).once('SIGINT', () => stop());
await client.connect().then(
  () => console.error('connected'),
  () => undefined, // onError has reported the reason
);
