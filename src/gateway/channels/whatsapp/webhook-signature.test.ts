import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { isSigned, toChallenge } from './webhook-signature.ts';

const SECRET = 'app-secret';
/** As Meta writes it: with escapes that JSON.stringify would not write. */
const BODY = Buffer.from('{"text":"\\u00e9 \\/ ok"}');
const sign = (body: Uint8Array, secret = SECRET) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

test('a body counts as signed only with the signature of exactly its bytes', () => {
  assert.equal(isSigned(BODY, sign(BODY), SECRET), true);
  const again = Buffer.from(JSON.stringify(JSON.parse(BODY.toString())));
  assert.equal(isSigned(again, sign(BODY), SECRET), false, 'written again');
  for (let at = 0; at < BODY.length; at += 1) {
    const changed = Buffer.from(BODY);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.equal(isSigned(changed, sign(BODY), SECRET), false, `changed at ${at}`);
  }
});

test('a missing, cut, longer or foreign signature is refused, and so is any without a secret', () => {
  const right = sign(BODY);
  const wrong = [
    undefined,
    '',
    'sha256=',
    right.slice(0, -1),
    `${right}0`,
    right.slice('sha256='.length),
    right.replace('sha256', 'sha1'),
    right.toUpperCase(),
    sign(BODY, 'another'),
    `${right}, ${right}`,
  ];
  for (const header of wrong) assert.equal(isSigned(BODY, header, SECRET), false, String(header));
  assert.equal(isSigned(BODY, sign(BODY, ''), ''), false, 'an empty secret signs nothing');
});

test('the verification answers its challenge to the right token alone', () => {
  const asked = { 'hub.mode': 'subscribe', 'hub.verify_token': 'mine', 'hub.challenge': '1158201444' };
  const challengeOf = (changed: Record<string, string>, token = 'mine') =>
    toChallenge(new URLSearchParams({ ...asked, ...changed }), token);
  assert.equal(challengeOf({}), '1158201444');
  assert.equal(challengeOf({ 'hub.verify_token': 'yours' }), undefined);
  assert.equal(challengeOf({ 'hub.mode': 'unsubscribe' }), undefined);
  assert.equal(challengeOf({ 'hub.verify_token': '' }, ''), undefined, 'no token is set up');
  assert.equal(toChallenge(new URLSearchParams({ 'hub.mode': 'subscribe' }), 'mine'), undefined);
});
