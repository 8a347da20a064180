import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import type { Message } from '../../agent/message.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { RunRecord, RunRequest } from '../runs/run-record.ts';
import { AlwaysRules } from './always.ts';

function rulesOver({ alwaysMs = 1_000 } = {}) {
  const clock = fakeClock(5_000);
  const credential = new AbortController();
  const endOf = (id: string) => (id === 'token:t' ? credential.signal : undefined);
  const held = new Set<Permission>(['approve', 'coordinator.trust.send']);
  const authenticator = { endOf, viewerOf: () => ({ permissions: held }) };
  return { clock, credential, held, rules: new AlwaysRules({ live: { alwaysMs }, authenticator, clock }) };
}

const runOf = (request: Partial<RunRequest>, principal = 'ada'): RunRecord => ({
  ...{ runId: 'r', wsId: 'w', principal, source: 'person', epoch: 1, acceptedMs: 0 },
  request: { message: 'x', rights: 'approve', ...request },
});
const trusted: Message = { role: 'user', content: 'a', trusted: true };
const foreign: Message = { role: 'user', content: 'b' };

test('auto-approve lasts as long as configured; 0 means without end', () => {
  const { clock, rules } = rulesOver();
  const always = rules.grant('ada');
  assert.deepEqual(always, { by: 'ada', untilMs: 6_000 });
  clock.jump(999);
  assert.equal(rules.whyOver(always), undefined);
  clock.jump(1);
  assert.equal(rules.whyOver(always), 'time');
  assert.deepEqual(rulesOver({ alwaysMs: 0 }).rules.grant('ada'), { by: 'ada', untilMs: null });
});

test('a clock that is set back prolongs no auto-approve', async () => {
  const { clock, rules } = rulesOver();
  const always = rules.grant('ada');
  await clock.advance(600);
  clock.jump(-3_600_000);
  await clock.advance(399);
  assert.equal(rules.whyOver(always), undefined);
  await clock.advance(1);
  assert.equal(rules.whyOver(always), 'time');
});

test('auto-approve ends with the right of its giver, and covers nobody who lost it', () => {
  const { held, rules } = rulesOver();
  const [always, ofOther] = [rules.grant('user:ada'), rules.grant('telegram:7')];
  const covers = (principal: string) => rules.covers(ofOther, { run: runOf({}, principal), messages: [trusted] });
  assert.deepEqual([rules.whyOver(always), covers('user:bob'), covers('cron:job_1')], [undefined, true, true]);
  held.delete('approve');
  assert.deepEqual([rules.whyOver(always), covers('user:bob'), covers('cron:job_1')], ['giver', false, true]);
  assert.equal(rules.isInForce(always, ['coordinator.trust.send']), true);
});

test('auto-approve ends with the credential of its giver', () => {
  const { credential, rules } = rulesOver({ alwaysMs: 0 });
  const always = rules.grant('token:t');
  assert.equal(rules.isInForce(always), true);
  credential.abort();
  assert.equal(rules.whyOver(always), 'giver');
});

test('auto-approve covers only runs of callers with the approve scope', () => {
  const { credential, rules } = rulesOver();
  const always = rules.grant('ada');
  const covers = (run: RunRecord, messages: Message[] = [trusted, foreign]) => rules.covers(always, { run, messages });
  assert.equal(covers(runOf({})), true);
  assert.equal(covers(runOf({ rights: 'write' })), false);
  assert.equal(covers({ ...runOf({}), request: { message: 'of an earlier version' } }), false);
  assert.equal(rules.covers(undefined, { run: runOf({}), messages: [] }), false);
  assert.equal(covers(runOf({}, 'token:t')), true);
  assert.equal(covers(runOf({ editedBy: ['token:t'] })), true);
  credential.abort();
  assert.equal(covers(runOf({}, 'token:t')), false);
  assert.equal(covers(runOf({ editedBy: ['token:t', 'ada'] })), false, 'somebody else edited the message meanwhile');
});

test('auto-approve covers runs of the daemon only while all text is from approvers', () => {
  const { rules } = rulesOver();
  const always = rules.grant('ada');
  const run = runOf({ unattended: true });
  assert.equal(rules.covers(always, { run, messages: [trusted] }), true);
  assert.equal(rules.covers(always, { run, messages: [trusted, foreign] }), false);
});
