// Answers pending questions: approves the commands given as arguments and denies all others. Runs until it is stopped:
//   HEADGATE_TOKEN=… node decide.mjs ls pwd "git status"
import process from 'node:process';
import { ConnectionLostError, createGatewayClient, RequestError } from 'headgate/client';

const { HEADGATE_URL = 'ws://127.0.0.1:7717', HEADGATE_TOKEN } = process.env;
const harmless = process.argv.slice(2);

const client = createGatewayClient({
  url: HEADGATE_URL,
  token: HEADGATE_TOKEN,
  client: { name: 'decide-example', version: '1.0.0', mode: 'cli' },
  onStatus({ kind, error }) {
    if (kind === 'open') decideAll().catch(leave);
    if (kind === 'closed' && error !== undefined) leave(error); // the token is wrong or was revoked
  },
});

/** Leaves on errors that reconnecting cannot fix. After a lost connection, open questions are listed again. */
function leave(error) {
  if (error instanceof ConnectionLostError || process.exitCode === 1) return;
  console.error(error instanceof RequestError ? `${error.code}: ${error.message}` : error);
  process.exitCode = 1;
  client.close();
}

/** Earlier questions are in the list; new ones arrive as events. */
async function decideAll() {
  const { approvals } = await client.call('approval.list', {});
  for (const approval of approvals) await decide(approval);
}

async function decide({ approvalId, items }) {
  const approved = items.every(({ header }) => harmless.some((command) => header === `bash: ${command}`));
  try {
    await client.call('approval.resolve', { approvalId, approved });
    for (const { header } of items) console.log(`${approved ? 'approved' : 'denied'}: ${header}`);
  } catch (error) {
    const isDecided = error instanceof RequestError && error.code === 'CONFLICT'; // by another client, or by an earlier call
    if (!isDecided) throw error;
  }
}

client.on('approval.requested', (approval) => decide(approval).catch(leave));
const stop = () => client.close();
process.once('SIGTERM', stop).once('SIGINT', stop);
await client.connect().then(
  () => console.error('connected'),
  () => undefined, // onStatus has reported the reason
);
