import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideSender } from './sender-policy.ts';

const NONE = { dmPolicy: 'pairing' as const, allowFrom: new Set<string>(), groups: new Map() };
const DIRECT = { chatKind: 'dm' as const, chatId: '7', senderId: '7', isForBot: true };
const GROUP = { chatKind: 'group' as const, chatId: '-100', senderId: '7', isForBot: true };

const kindOf = (...args: Parameters<typeof decideSender>) => {
  const verdict = decideSender(...args);
  return verdict.kind === 'blocked' ? verdict.reason : verdict.kind;
};

test('in a direct chat the policy, the list and the approval decide', () => {
  const listed = new Set(['7']);
  assert.deepEqual(
    {
      stranger: kindOf(DIRECT, NONE, undefined),
      asking: kindOf(DIRECT, NONE, { status: 'pending' }),
      approved: kindOf(DIRECT, NONE, { status: 'approved' }),
      listed: kindOf(DIRECT, { ...NONE, allowFrom: listed }, undefined),
      listedOnly: kindOf(DIRECT, { ...NONE, dmPolicy: 'allowlist' }, { status: 'approved' }),
      everybody: kindOf(DIRECT, { ...NONE, dmPolicy: 'open', allowFrom: new Set(['*']) }, undefined),
      openWithoutAll: kindOf(DIRECT, { ...NONE, dmPolicy: 'open' }, undefined),
      disabled: kindOf(DIRECT, { ...NONE, dmPolicy: 'disabled', allowFrom: listed }, { status: 'approved' }),
      revoked: kindOf(DIRECT, { ...NONE, allowFrom: listed }, { status: 'revoked' }),
    },
    {
      stranger: 'pairing',
      asking: 'pairing',
      approved: 'allowed',
      listed: 'allowed',
      listedOnly: 'the sender is not in allowFrom',
      everybody: 'allowed',
      openWithoutAll: 'the sender is not in allowFrom',
      disabled: 'direct chats are disabled',
      revoked: 'the sender was revoked',
    },
  );
});

test('in a group its own list decides, an approval by code opens nothing, and what is not for the bot is ignored', () => {
  const withGroup = (allowFrom: string[], requireMention = true) => ({
    ...NONE,
    groups: new Map([['-100', { allowFrom: new Set(allowFrom), requireMention }]]),
  });
  const overheard = { ...GROUP, isForBot: false };
  assert.deepEqual(
    {
      unknownGroup: kindOf(GROUP, { ...NONE, allowFrom: new Set(['7']) }, undefined),
      unknownGroupOverheard: kindOf(overheard, NONE, undefined),
      listed: kindOf(GROUP, withGroup(['7']), undefined),
      everybody: kindOf(GROUP, withGroup(['*']), undefined),
      pairedOnly: kindOf(GROUP, withGroup(['8']), { status: 'approved' }),
      overheard: kindOf(overheard, withGroup(['7']), undefined),
      readsAll: kindOf(overheard, withGroup(['7'], false), undefined),
      readsAllOfOthers: kindOf(overheard, withGroup(['8'], false), undefined),
      revoked: kindOf(GROUP, withGroup(['7']), { status: 'revoked' }),
      revokedOverheard: kindOf(overheard, withGroup(['7'], false), { status: 'revoked' }),
    },
    {
      unknownGroup: 'the group is not in groups',
      unknownGroupOverheard: 'ignored',
      listed: 'allowed',
      everybody: 'allowed',
      pairedOnly: 'the sender is not in allowFrom of the group',
      overheard: 'ignored',
      readsAll: 'allowed',
      readsAllOfOthers: 'ignored',
      revoked: 'the sender was revoked',
      revokedOverheard: 'ignored',
    },
  );
});
