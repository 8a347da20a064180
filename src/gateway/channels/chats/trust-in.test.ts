import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempStore } from '../../../testing/temp-store.ts';
import type { ChatSettings } from './chat-settings.ts';
import { trustIn } from './trust-in.ts';

const settings: ChatSettings = {
  ...{ dmPolicy: 'allowlist', session: 'chat', ambiguous: 'once' },
  ...{ allowFrom: new Set(['7']), approvers: new Set(['7']) },
  groups: new Map([['-5', { allowFrom: new Set(['8']), requireMention: true }]]),
};

const CASES = [
  ['7', { chat: '7', kind: 'dm' }, 'approver'],
  ['8', { chat: '8', kind: 'dm' }, undefined],
  ['8', { chat: '-5', kind: 'group' }, 'allowed'],
  ['8', { chat: '-5:12', kind: 'group' }, 'allowed'],
  ['7', { chat: '-5:12', kind: 'group' }, undefined],
  ['8', { chat: '-6', kind: 'group' }, undefined],
] as const;

for (const [senderId, chat, expected] of CASES)
  test(`person ${senderId} in the ${chat.kind} chat ${chat.chat} may be ${expected ?? 'nothing'}`, async () => {
    await using store = await tempStore();
    const person = { channel: 'telegram', senderId, chat };
    assert.equal(await trustIn(person, { settings, store }), expected);
    assert.equal(await trustIn(person, { settings: undefined, store }), undefined);
  });
