import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutSecrets } from './secret-text.ts';

test('keys, tokens, passwords and private keys are replaced, and the words around them stay', () => {
  const shown: Record<string, string> = {
    'use sk-proj-abcDEF123456ghi for it': 'use *** for it',
    ghp_abcdefghijklmnopqrstuvwxyz0123456789: '***',
    'AKIAIOSFODNN7EXAMPLE leaked': '*** leaked',
    'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln ok': 'Bearer *** ok',
    'password: hunter2hunter2, then go': 'password: ***, then go',
    'my password is correcthorse': 'my password is ***',
    'clone https://ada:s3cr3tpass@host/repo': 'clone https://ada:***@host/repo',
    'hash 0123456789abcdef0123456789abcdef': 'hash ***',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- fix': '*** fix',
  };
  for (const [text, expected] of Object.entries(shown)) assert.equal(withoutSecrets(text), expected);
});

test('ordinary text stays as it is', () => {
  for (const text of [
    'What is in this folder?',
    'explain src/gateway/workstreams/workstream-data.ts',
    'reset my password',
    'a token bucket in TypeScript',
    'Größe der Tabelle für 2030',
  ])
    assert.equal(withoutSecrets(text), text);
});

test('a long string without digits is searched once, not from each of its characters', () => {
  const text = 'x'.repeat(1_000_000); // from each, this would take a quarter of an hour
  assert.equal(withoutSecrets(text), text);
});
