import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPasswords } from './passwords.ts';

test('a password matches its own hash only, and equal passwords have different hashes', async () => {
  const passwords = createPasswords();
  const [one, other] = [await passwords.hash('correct horse'), await passwords.hash('correct horse')];
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(one, other);
  assert.deepEqual(
    [
      await passwords.matches('correct horse', one),
      await passwords.matches('correct horse ', one),
      await passwords.matches('correct horse', null),
      await passwords.matches('correct horse', undefined),
      await passwords.matches('correct horse', 'plain text'),
    ],
    [true, false, false, false, false],
  );
});

test('a password matches however its characters are composed', async () => {
  const passwords = createPasswords();
  const stored = await passwords.hash('caf\u00e9 cr\u00e8me');
  assert.equal(await passwords.matches('cafe\u0301 cre\u0300me', stored), true);
});

test('too many at once are refused, and the others are answered', async () => {
  const passwords = createPasswords({ atOnce: 2, waiting: 3 });
  const answers = await Promise.allSettled(Array.from({ length: 9 }, () => passwords.matches('x', null)));
  const refused = answers.filter(({ status }) => status === 'rejected');
  assert.deepEqual(
    [refused.length, refused.every((one) => one.status === 'rejected' && one.reason.code === 'BUSY')],
    [4, true],
  );
  assert.equal(await passwords.matches('x', null), false);
});
