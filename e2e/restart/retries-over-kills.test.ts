import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLostError } from '../../protocol/client/request-error.ts';
import { createGatewayClient, type GatewayClient } from '../../protocol/client/ws-client.ts';
import { readLedger } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { within } from '../support/deadline.ts';
import { say } from '../support/model/scripted-steps.ts';

/** The number of calls of each method, spread over the lives of the daemon. */
const RETRIES = 1_000;
/** How many calls have an answer when the daemon is killed: none, one, some or most. */
const KILLED_AFTER = [0, 1, 40, 300];
const LIVES = KILLED_AFTER.length + 1;
const CLIENTS = 10;

const { model, daemon } = await openStage({
  config: { server: { inbound: { burst: 10_000, perSecond: 10_000 } } },
});
model.when('agent once', say('one ', 'run'));
model.when('chat once', say('one ', 'answer'));

/** A client whose connection breaks gets an error, and retries only when the test says so. */
async function openClients(): Promise<GatewayClient[]> {
  const clients = Array.from({ length: CLIENTS }, () =>
    createGatewayClient({
      url: daemon.wsUrl,
      token: daemon.token,
      client: { name: 'retry', version: '1', mode: 'test' },
      reconnect: false,
    }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  return clients;
}

async function newWorkstream(): Promise<string> {
  return (await daemon.post('/v1/api/workstreams/new', {})).body.ws_id;
}

type Told = (answer: string) => void;
/** Makes one call with one key; `told` gets every answer. */
type Ask = (client: GatewayClient, told: Told) => Promise<unknown>;

/** Makes the same calls from all clients at once; calls lost with the daemon do not count as answers. */
function askAll(clients: GatewayClient[], asks: Record<string, Ask>, told: (method: string, answer: string) => void) {
  const each = RETRIES / LIVES / CLIENTS;
  return Promise.all(
    Object.entries(asks).flatMap(([method, ask]) =>
      clients.flatMap((client) =>
        Array.from({ length: each }, async () => {
          try {
            told(method, JSON.stringify(await ask(client, (answer) => told(`${method}, first`, answer))));
          } catch (error) {
            if (!(error instanceof ConnectionLostError)) throw error;
          }
        }),
      ),
    ),
  );
}

test(`${RETRIES} concurrent retries with one key, across ${KILLED_AFTER.length} kills of the daemon, have one effect per key`, async (t) => {
  const [agentId, chatId, noteId] = [await newWorkstream(), await newWorkstream(), await newWorkstream()];
  const listed = async () => (await daemon.get('/v1/api/workstreams')).body.workstreams.length;
  const before = await listed();
  const idempotencyKey = 'the same for all';
  const asks: Record<string, Ask> = {
    agent: (client, told) =>
      client.call(
        'agent',
        { message: 'agent once', sessionKey: agentId, idempotencyKey },
        { onInterim: (payload) => told(JSON.stringify(payload)) },
      ),
    // Its status says how far the run is: started, in_flight or ok, depending on the moment of the kill.
    'chat.send': async (client) => {
      const ask = { message: 'chat once', sessionKey: chatId, idempotencyKey: `chat ${idempotencyKey}` };
      return (await client.call('chat.send', ask)).runId;
    },
    send: (client) => client.call('send', { to: noteId, message: 'note once', idempotencyKey }),
    'workstream.create': (client) => client.call('workstream.create', { idempotencyKey }),
  };
  const answers = new Map<string, Set<string>>();
  const answered: number[] = [];
  for (const killedAfter of [...KILLED_AFTER, Number.POSITIVE_INFINITY]) {
    const clients = await openClients();
    const due = Promise.withResolvers<void>();
    let told = 0;
    const all = askAll(clients, asks, (method, answer) => {
      answers.set(method, (answers.get(method) ?? new Set()).add(answer));
      told += 1;
      if (told !== killedAfter) return;
      daemon.signal('SIGKILL'); // at once, because answers that arrive together are handled one after the other
      due.resolve();
    });
    if (killedAfter === 0) due.resolve();
    await within(Promise.race([due.promise, all]), 60_000, () => `${killedAfter} answers; there were ${told}`);
    if (killedAfter !== Number.POSITIVE_INFINITY) await daemon.kill9();
    await all;
    answered.push(told);
    for (const client of clients) client.close();
    if (killedAfter !== Number.POSITIVE_INFINITY) await daemon.restart();
  }
  t.diagnostic(`answers before each kill, and at last: ${answered.join(', ')}`);
  const perLife = (RETRIES / LIVES) * Object.keys(asks).length;
  // Data that a daemon wrote before its death can be read after it; sometimes this is all of the data.
  const among = answered.slice(0, -1).filter((count) => count < perLife);
  assert.ok(among.length >= KILLED_AFTER.length / 2, 'enough kills happened during the calls');
  // Absent if the run had ended before every answer.
  assert.ok((answers.get('agent, first')?.size ?? 1) === 1, 'all were accepted as the same run');
  answers.delete('agent, first');
  assert.deepEqual(
    Object.fromEntries([...answers].map(([method, { size }]) => [method, size])),
    Object.fromEntries(Object.keys(asks).map((method) => [method, 1])),
  );
  const userTexts = (wsId: string) =>
    readLedger(daemon.home, wsId).messages.flatMap((message) => (message.role === 'user' ? [message.content] : []));
  const [agent, chat] = [readLedger(daemon.home, agentId), readLedger(daemon.home, chatId)];
  assert.deepEqual(
    {
      agent: [userTexts(agentId), agent.runs.length],
      chat: [userTexts(chatId), chat.runs.length],
      notes: userTexts(noteId).length,
      made: (await listed()) - before,
    },
    { agent: [['agent once'], 1], chat: [['chat once'], 1], notes: 1, made: 1 },
  );
});
