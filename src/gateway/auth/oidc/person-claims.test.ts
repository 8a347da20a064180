import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toGroups, toPerson } from './person-claims.ts';

test('the subject identifies; all other claims only suggest names', () => {
  const claims = { sub: 's1', preferred_username: 'ada@lab.example', name: ' Ada Lovelace ', auth_time: 1_700_000_000 };
  assert.deepEqual(toPerson(claims), {
    ...{ subject: 's1', username: 'ada', displayName: 'Ada Lovelace', authenticatedMs: 1_700_000_000_000 },
  });
  assert.deepEqual(toPerson({ sub: 's1' }), {
    ...{ subject: 's1', username: 'user', displayName: 'user', authenticatedMs: undefined },
  });
});

test('a subject is a text of at most 255 characters', () => {
  for (const sub of [undefined, null, '', 7, {}, ['s'], 's'.repeat(256)]) assert.equal(toPerson({ sub }), undefined);
  assert.equal(toPerson({ sub: 's'.repeat(255) })?.subject.length, 255);
});

test('a username has only letters, digits and . _ -, and room for a number', () => {
  const names = [
    'Zoë Müller',
    '../../etc/passwd',
    '<b>x</b>',
    '\u202egnp.exe',
    'a'.repeat(500),
    '名前',
    '-.-',
    '@x',
    'operator',
  ];
  assert.deepEqual(
    names.map((preferred_username) => toPerson({ sub: 's', preferred_username })?.username),
    ['Zoe-Muller', 'etc-passwd', 'b-x-b', 'gnp.exe', 'a'.repeat(56), 'user', 'user', 'user', 'operator'],
  );
});

test('the next claim suggests a name if the first has none', () => {
  const claims = { sub: 's', preferred_username: 7, nickname: '', email: 'kay@lab.example', name: { a: 1 } };
  assert.deepEqual(toPerson(claims)?.username, 'kay');
});

test('a name to show has one line of at most 256 characters', () => {
  const shown = (name: unknown) => toPerson({ sub: 's', preferred_username: 'u', name })?.displayName;
  assert.deepEqual(
    [shown('a\n\r\u0000b\u2028c\u202ed'), shown('  '), shown(['x']), shown('x'.repeat(9_999))?.length],
    [...['a b c d', 'u', 'u', 256]],
  );
});

test('a time of login that is no number is ignored', () => {
  for (const auth_time of ['1', null, Number.NaN, Number.POSITIVE_INFINITY, -1, {}])
    assert.equal(toPerson({ sub: 's', auth_time })?.authenticatedMs, undefined);
});

test('groups are a text or a list of texts, behind a name or a path', () => {
  const groups = (claims: Record<string, unknown>, claim = 'g') => [...toGroups(claims, claim)];
  assert.deepEqual(groups({ g: 'a' }), ['a']);
  assert.deepEqual(groups({ g: ['a', 7, null, ['b'], { c: 1 }, 'd', 'a', 'x'.repeat(257)] }), ['a', 'd']);
  for (const g of [undefined, null, 7, true, {}, { a: true }]) assert.deepEqual(groups({ g }), []);
  assert.deepEqual(groups({ realm_access: { roles: ['a'] } }, 'realm_access.roles'), ['a']);
  assert.deepEqual(groups({ 'https://x.example/roles': ['a'] }, 'https://x.example/roles'), ['a']);
  for (const path of ['constructor', 'constructor.name', '__proto__', 'a.b', 'toString'])
    assert.deepEqual(groups({ a: 'text' }, path), []);
  assert.equal(groups({ g: Array.from({ length: 5_000 }, (_, n) => `g${n}`) }).length, 1_000);
});
