import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SuggestedRule } from '../../../../protocol/events/rules.ts';
import { item } from '../conversation/conversation-fixture.ts';
import { asksAbout, judgeWords, offeredRules, offeredTerms, toApproval } from './rule-choices.ts';

const rules: SuggestedRule[] = [
  { id: 'command', kind: 'command', match: { command: 'git push' }, terms: ['hour', 'always'] },
  { id: 'prefix', kind: 'prefix', match: { program: 'git', argsStart: ['push'] }, terms: ['hour', 'always'] },
];
const asked = (...items: ReturnType<typeof item>[]) => ({ approvalId: 'a', question: 'tools' as const, items });

test('only calls that ask are decided one by one', () => {
  const about = (more: Parameters<typeof item>[1]) => asksAbout({ question: 'tools' }, item('c', more));
  const ruling = (verdict: 'ask' | 'run') => ({ ruling: { verdict, reason: 'tool' as const } });
  assert.deepEqual(
    [about({}), about(ruling('ask')), about(ruling('run')), about({ error: 'no' }), about({ auto_approved: true })],
    [true, true, false, false, false],
  );
  assert.equal(asksAbout({ question: 'outcome' }, item('c')), false);
});

test('the suggested rules of calls that are not denied are offered in words, with the terms that all of them have', () => {
  const question = asked(item('c1', { rules }), item('c2', { rules }), item('c3'));
  assert.deepEqual(offeredRules(question, ['c2']), [
    {
      callId: 'c1',
      name: 'c1',
      choices: [
        { id: 'command', words: 'exactly this command' },
        { id: 'prefix', words: 'commands that begin with “git push”' },
      ],
    },
  ]);
  assert.deepEqual(offeredTerms(question), ['hour', 'always']);
});

test('a decision names the denied calls and the answers, and nothing else if there are none', () => {
  assert.deepEqual(toApproval([]), { approved: true });
  assert.deepEqual(toApproval(['c2'], { c1: { approved: true, answer: 'yes' } }), {
    approved: true,
    decisions: { c1: { approved: true, answer: 'yes' }, c2: { approved: false } },
  });
});

test('the card says that a model still rates a call, or why it will not', () => {
  const question = asked(item('c1'));
  assert.match(judgeWords({ ...question, isJudging: true }) ?? '', /^A model is rating this, too\./);
  assert.equal(judgeWords({ ...question, isJudging: true, heard: ['c1'] }), undefined);
  assert.equal(
    judgeWords({ ...question, isJudging: true, heard: ['c1'], silent: 'it took too long' }),
    'No rating by the model: it took too long. The rest is as it was.',
  );
});
