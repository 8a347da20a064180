import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { queryPostgres } from '../../src/testing/postgres-server.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { openSse } from '../support/clients/sse.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { startNode } from '../support/daemon/node-process.ts';
import { within } from '../support/deadline.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { closeScene, nodeIdOf, scene, startOne, untilForwarding, untilServing } from './two-daemons.ts';

const installed = await needs('postgresql');

after(closeScene);

/** An answer as it comes, without what differs between two equal requests. */
async function rawAnswer(daemon: DaemonUnderTest, { method = 'GET', path, headers = {} }: Asked) {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const { port } = new URL(daemon.url);
  const asking = request({
    port,
    host: '127.0.0.1',
    method,
    path,
    headers: { host: '127.0.0.1:7717', authorization: `Bearer ${daemon.token}`, ...headers },
  });
  asking.on('error', reject);
  asking.on('response', (answer) => {
    const { date: _, 'x-request-id': _id, connection: _c, 'keep-alive': _k, ...kept } = answer.headers;
    buffer(answer).then((body) => {
      const { 'content-length': _length, ...others } = kept;
      if (body.includes('request_id')) resolve({ status: answer.statusCode, headers: others });
      else resolve({ status: answer.statusCode, headers: kept, body: body.toString('base64') });
    }, reject);
  });
  asking.end();
  return promise;
}

interface Asked {
  method?: string;
  path: string;
  headers?: Record<string, string>;
}

test('a request with as many headers as are allowed passes a standby, too', installed, async () => {
  await using active = await startOne();
  await untilServing(active);
  await using standby = await startOne();
  await untilForwarding(standby);
  const path = '/v1/api/workstreams';
  const many = Object.fromEntries(Array.from({ length: 97 }, (_, at) => [`x-${at}`, 'a'])); // with three others: 100
  const long = { 'x-long': 'a'.repeat(16 * 1024 - 200) };
  for (const headers of [many, long]) {
    const asked = { path, headers: { ...headers, connection: 'close' } };
    assert.deepEqual(await rawAnswer(standby, asked), await rawAnswer(active, asked));
    assert.deepEqual(await rawAnswer(standby, asked), await rawAnswer(standby, { path }));
  }
});

test('what a standby forwards is answered as by the active daemon itself, byte for byte', installed, async () => {
  await using active = await startOne();
  await untilServing(active);
  await using standby = await startOne();
  await untilForwarding(standby);
  const activeId = await nodeIdOf(active);
  const standbyId = await nodeIdOf(standby);
  // The active daemon looks now and then who waits.
  const isKnown = async (): Promise<boolean> =>
    (await active.get(`/node/${standbyId}/v1/api/workstreams`)).status === 200 || isKnown();
  await within(isKnown(), 60_000, () => 'the active daemon knows the standby');
  const asked: Asked[] = [
    { path: '/' },
    { path: '/', headers: { 'accept-encoding': 'gzip' } },
    { path: '/', method: 'HEAD' },
    { path: '/v1/api/workstreams?limit=1' },
    { path: '/v1/api/workstreams', headers: { authorization: 'Bearer wrong' } },
    { path: '/v1/api/workstreams', headers: { origin: 'http://evil.test' } },
    { path: '/v1/api/workstreams', headers: { host: 'evil.test' } },
    { path: '/v1/api/nothing%20here' },
    { path: '/v1/api/workstreams', method: 'OPTIONS' },
    { path: '/v1/api/send', method: 'POST', headers: { 'content-length': '0' } },
    { path: `/node/${activeId}/v1/api/workstreams` },
    { path: `/node/${standbyId}/v1/api/workstreams` },
    { path: '/node/nobody_0000/v1/api/workstreams' },
  ];
  for (const one of asked) {
    const direct = await rawAnswer(active, one);
    const forwarded = await rawAnswer(standby, one).catch((error: unknown) => String(error));
    assert.deepEqual(forwarded, direct, `${one.method} ${one.path}`);
  }
  const own = (await standby.get(`/node/${standbyId}/health`)).body;
  assert.deepEqual([own.status, own.node_id], ['standby', standbyId]);
  // A daemon on a free port tells the others its address when it reports again.
  const fromActive = async (): Promise<{ status: number; id: unknown }> => {
    const { status, body } = await active.get(`/node/${standbyId}/health`);
    return status === 503 ? { status, id: body.node_id } : fromActive();
  };
  assert.deepEqual(await within(fromActive(), 60_000, () => 'the address of the standby'), {
    status: 503,
    id: standbyId,
  });

  const forged = { 'headgate-forwarded': 'x;1;10.0.0.1;AAAA' };
  for (const daemon of [active, standby]) {
    const refused = await fetch(new URL('/health/../v1/api/workstreams', daemon.url), { headers: forged });
    assert.equal(refused.status, 503, 'what no daemon has forwarded is refused');
  }
  const bytes = Buffer.from(randomBytes(50_000).toString('hex'));
  const client = await standby.client();
  const { wsId } = await client.call('workstream.create', {});
  const form = new FormData();
  form.append('file', new Blob([bytes], { type: 'text/plain' }), 'noise.txt');
  const headers = { authorization: `Bearer ${standby.token}` };
  const attachments = `/v1/api/workstreams/${wsId}/attachments`;
  const sent = await fetch(new URL(attachments, standby.url), { method: 'POST', headers, body: form });
  assert.ok(sent.ok, await sent.clone().text());
  const { attachment_id: id } = await sent.json();
  const back = await fetch(new URL(`${attachments}/${id}/content`, standby.url), { headers });
  assert.ok(Buffer.from(await back.arrayBuffer()).equals(bytes), 'a file comes back as it was sent');

  await standby.kill9();
  await queryPostgres(
    (await scene()).url,
    `update headgate.machines set seen_at = clock_timestamp() where node_id = '${standbyId}'`,
  );
  const gone = await active.get(`/node/${standbyId}/health`);
  assert.deepEqual([gone.status, gone.body.error], [502, 'Node unreachable']);
});

test(
  'clients of a standby lose nothing when the active daemon is killed, or paused, and another one takes over',
  installed,
  async () => {
    const { model } = await scene();
    const daemons = [await startOne()];
    try {
      await untilServing(daemons[0] as DaemonUnderTest);
      daemons.push(await startOne(), await startOne());
      const [first, second, third] = daemons as [DaemonUnderTest, DaemonUnderTest, DaemonUnderTest];
      await untilForwarding(third);
      await untilForwarding(second);
      await using talk = await openConversation(third); // its clients follow through the standby, in both ways
      model.when('one', callTools({ name: 'bash', arguments: { command: 'echo one | tee one' } }), say('the end'));
      const question = await talk.ask('one');
      question.answer.catch(() => undefined); // the connection will be lost
      const { approval_id: approvalId } = await talk.until('approve_request');
      await using node = await startNode(second, ['--allow', 'echo *']);
      await node.code();
      const { pending } = await talk.client.call('node.pair.list', {});
      for (const { requestId } of pending) await talk.client.call('node.pair.approve', { requestId });
      await node.child.printed(/^Connected\.$/m);
      /** Runs a command on the node, which is connected to another daemon than its caller. */
      const onNode = async (word: string) => {
        const command = { command: 'system.run', params: { argv: ['echo', word] } } as const;
        const { payload } = await talk.client.call('node.invoke', {
          nodeId: node.nodeId(),
          ...command,
          idempotencyKey: word,
        });
        return Object(payload).stdout;
      };
      assert.equal(await onNode('before'), 'before\n');
      const states = await openSse(new URL('/v1/api/events/global', third.url), { token: third.token });
      await first.kill9();
      await within(states.ended, 60_000, () => 'the stream of the daemon that was killed ends');
      await states[Symbol.asyncDispose]();
      await within(Promise.any([untilServing(second), untilServing(third)]), 60_000, () => 'another one serves');
      await untilForwarding(second);
      await untilForwarding(third);
      await talk.reconnect();
      await talk.decide(approvalId, { approved: true });
      await talk.ended(question);
      const { messages } = await talk.client.call('workstream.history', { wsId: talk.wsId });
      assert.deepEqual(
        messages.map(({ role, content }) => [role, (content ?? '').trim().split('\n').at(-1)]).slice(-2),
        [
          ['tool', 'one'],
          ['assistant', 'the end'],
        ],
      );
      await node.child.printed(/^Connected\.$[\s\S]*^Connected\.$/m);
      assert.equal(await onNode('after'), 'after\n');
      assert.equal(talk.seen.filter(({ event }) => event.type === 'approve_request').length, 1, 'nothing came twice');

      const isSecond = (await second.get('/health')).status === 200;
      const [paused, waiting] = isSecond ? [second, third] : [third, second];
      await untilForwarding(waiting);
      const stream = await openSse(new URL('/v1/api/events/global', waiting.url), { token: waiting.token });
      paused.signal('SIGSTOP');
      await within(stream.ended, 60_000, () => 'a stream does not wait for a daemon that is paused');
      await stream[Symbol.asyncDispose]();
      await untilServing(waiting);
      paused.signal('SIGCONT');
      assert.equal((await within(paused.exited(), 60_000, () => 'its end')).code, 1);
    } finally {
      for (const daemon of daemons) await daemon[Symbol.asyncDispose]();
    }
  },
);
