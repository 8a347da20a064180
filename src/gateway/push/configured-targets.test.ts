import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { NoticeContent } from '../../../protocol/methods/channels/push.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { Owned } from '../sharing/perception.ts';
import { configuredTargets } from './configured-targets.ts';
import { toMatter } from './question.ts';

const NEVER = new AbortController().signal;
const KEY = 'sixteen letters!';
const APPROVAL: Approval = {
  ...{ approvalId: 'apr_1', wsId: 'w1', sessionKey: 'main', kind: 'tools', expiresAtMs: 1_700_003_600_000 },
  items: [
    {
      ...{ call_id: 'c', header: 'bash ls', preview: 'ls kestrel', func_name: 'bash', approval_label: 'bash' },
      ...{ needs_approval: true, error: null },
    },
  ],
};

/** One topic and one webhook. */
async function setUp(
  content: NoticeContent,
  { of = { ownerId: '', visibility: 'shared' } as Owned, status = 200 } = {},
) {
  const sent: { url: string; method: string | undefined; headers: Headers; body: string }[] = [];
  const question = toMatter({ approval: APPROVAL, of, place: 'harbour' });
  const settings = {
    ...{ delayMs: 0, contact: 'mailto:ada@example.org' },
    ntfy: new Map([['phone', { url: 'https://ntfy.example.com/topic', token: 'tk_secret', content }]]),
    webhooks: new Map([['ops', { url: 'https://hooks.example.com/x', secret: KEY, content }]]),
  };
  const targets = await configuredTargets(question, {
    services: {
      settings: () => settings,
      async fetch(url, { method, headers, body }) {
        sent.push({ url, method, headers: new Headers(headers), body: String(body ?? '') });
        return new Response(null, { status });
      },
    },
    url: () => 'https://headgate.example.com',
    clock: fakeClock(1_700_000_000_000),
  });
  return { targets, sent, question, settings };
}

test('a topic is told as much as is configured, with its token, and a link to the inbox', async () => {
  const told: string[][] = [];
  for (const content of ['none', 'title', 'full'] as const) {
    const { targets, sent, question } = await setUp(content);
    await targets[0]?.ask(question, NEVER);
    const [{ url, method, headers, body } = assert.fail('nothing was sent')] = sent;
    assert.deepEqual(
      [url, method, headers.get('authorization'), headers.get('x-sequence-id'), headers.get('x-click')],
      ['https://ntfy.example.com/topic', 'POST', 'Bearer tk_secret', 'apr_1', 'https://headgate.example.com/#inbox'],
    );
    told.push([headers.get('x-title') ?? '', body]);
  }
  assert.deepEqual(told, [
    ['Headgate', 'Something waits for you'],
    ['The agent asks before it acts', 'The agent asks before it acts'],
    ['The agent asks before it acts', 'harbour\nbash ls\nls kestrel'],
  ]);
});

test('what is taken back is named in the path of the address, before its parameters', async () => {
  const { targets, sent, question, settings } = await setUp('title');
  const topic = { url: 'https://ntfy.example.com/topic/?auth=QmFzaWM', token: '', content: 'title' as const };
  settings.ntfy.set('phone', topic);
  await targets[0]?.withdraw(question, NEVER);
  assert.equal(sent[0]?.url, 'https://ntfy.example.com/topic/apr_1?auth=QmFzaWM');
});

test('a topic takes a notification back; a server that cannot is no failure', async () => {
  for (const status of [200, 404]) {
    const { targets, sent, question } = await setUp('title', { status });
    await targets[0]?.withdraw(question, NEVER);
    assert.deepEqual(
      sent.map(({ url, method }) => [method, url]),
      [['DELETE', 'https://ntfy.example.com/topic/apr_1']],
    );
  }
  const { targets, question } = await setUp('title', { status: 503 });
  await assert.rejects(async () => targets[0]?.withdraw(question, NEVER), /HTTP 503/);
});

test('a webhook gets the question and its end, signed', async () => {
  const { targets, sent, question } = await setUp('title');
  await targets[1]?.ask(question, NEVER);
  await targets[1]?.withdraw(question, NEVER);
  assert.deepEqual(
    sent.map(({ body }) => JSON.parse(body)),
    [
      {
        ...{ type: 'question', timestamp: '2023-11-14T22:13:20.000Z' },
        data: {
          ...{ approvalId: 'apr_1', wsId: 'w1', kind: 'tools', expiresAt: '2023-11-14T23:13:20.000Z' },
          title: 'The agent asks before it acts',
        },
      },
      { type: 'question.ended', timestamp: '2023-11-14T22:13:20.000Z', data: { approvalId: 'apr_1' } },
    ],
  );
  for (const { headers, body } of sent) {
    const text = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`;
    const signature = createHmac('sha256', KEY).update(text).digest('base64');
    assert.equal(headers.get('webhook-signature'), `v1,${signature}`);
  }
});

test('without a content, a webhook gets the id and nothing else', async () => {
  const { targets, sent, question } = await setUp('none');
  await targets[1]?.ask(question, NEVER);
  assert.deepEqual(JSON.parse(sent[0]?.body ?? '').data, { approvalId: 'apr_1' });
});

test('the targets of the configuration are not told of private workstreams of users', async () => {
  const count = async (of: Owned) => (await setUp('full', { of })).targets.length;
  assert.deepEqual(
    [
      await count({ ownerId: 'user_1', visibility: 'private' }),
      await count({ ownerId: 'user_1', visibility: 'shared' }),
      await count({ ownerId: '', visibility: 'private' }),
    ],
    [0, 2, 2],
  );
});

test('a workstream that is made private, and a target that is removed from the configuration, end what is told', async () => {
  const of = { ownerId: 'user_1', visibility: 'shared' as Owned['visibility'] };
  const { targets, sent, question, settings } = await setUp('full', { of });
  const areFor = () => Promise.all(targets.map((target) => target.isFor(question)));
  assert.deepEqual(await areFor(), [true, true]);
  of.visibility = 'private';
  assert.deepEqual(await areFor(), [false, false]);
  of.visibility = 'shared';
  settings.ntfy.clear();
  settings.webhooks.clear();
  assert.deepEqual(await areFor(), [false, false]);
  for (const target of targets) {
    await target.ask(question, NEVER);
    await target.withdraw(question, NEVER);
  }
  assert.deepEqual(sent, []);
});
