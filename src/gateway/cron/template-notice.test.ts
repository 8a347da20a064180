import assert from 'node:assert/strict';
import { test } from 'node:test';
import { putChat } from '../channels/inbox/chat-rows.ts';
import type { WhatsAppSettings } from '../channels/whatsapp/whatsapp-settings.ts';
import { onlyWebhooks } from '../testing/only-webhooks.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

const noNetwork = () => Promise.reject(new Error('no network'));

const SETTINGS: WhatsAppSettings = {
  ...{ phoneNumberId: '555', accessToken: 'a', appSecret: 'b', verifyToken: 'c', apiRoot: '', template: undefined },
  ...{ dmPolicy: 'pairing', session: 'chat', ambiguous: 'once' },
  ...{ allowFrom: new Set(), approvers: new Set(), groups: new Map() },
};

test('a message and a job for WhatsApp have a notice while no template is set', async () => {
  let settings = SETTINGS;
  await using gateway = await wholeGateway({
    channelServices: {
      ...onlyWebhooks({ destinations: () => new Map(), fetch: noNetwork }),
      whatsapp: { settings: () => settings, fetch: noNetwork, fetchMedia: noNetwork },
    },
  });
  const { wsId } = await gateway.call('workstream.create', {});
  const chat = { channel: 'whatsapp', chat: '101', kind: 'dm', session_key: 'x', ws_id: wsId, title: 'Ada' } as const;
  const row = { ...chat, last_in_ms: 5, last_out_ms: null, last_sender: '101', owes_notice: 0, created_ms: 1 };
  await gateway.store.commit({ statements: [putChat(row)] });
  const codesOf = (answer: object) =>
    ('notices' in answer ? (answer.notices as { code: string }[]) : []).map(({ code }) => code);
  const send = () => gateway.call('send', { to: '101', provider: 'whatsapp', message: 'hi', idempotencyKey: 'one' });
  const add = (turn: object, extended = true) =>
    gateway.call('cron.add', {
      ...{
        schedule: { kind: 'every', everyMs: 60_000 },
        sessionTarget: 'isolated',
        wakeMode: 'next-heartbeat',
        extended,
      },
      payload: { kind: 'agentTurn', message: 'x', ...turn },
    });
  const turn = { deliver: true, channel: 'WhatsApp' };
  const seen = async () => [
    codesOf(await send()),
    codesOf(await send()), // the repeated call has the same answer
    codesOf(await add(turn)),
    codesOf(await add(turn, false)),
    codesOf(await add({ ...turn, deliver: false })),
    codesOf(await add({ ...turn, channel: 'webhook' })),
  ];
  const missing = ['template_missing'];
  assert.deepEqual(await seen(), [missing, missing, missing, [], [], []]);
  settings = { ...SETTINGS, template: { name: 'answer_ready', language: 'en' } };
  assert.deepEqual(await seen(), [[], [], [], [], [], []]);
});
