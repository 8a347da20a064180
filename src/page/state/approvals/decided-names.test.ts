import assert from 'node:assert/strict';
import { test } from 'node:test';
import { item } from '../conversation/conversation-fixture.ts';
import { decidedNames } from './decided-names.ts';

test('a decision names the tools, and the calls if only some were approved', () => {
  const items = [
    item('c1', { func_name: 'bash', subject: 'echo a' }),
    item('c2', { func_name: 'bash', subject: `echo ${'b'.repeat(100)}` }),
    item('c3', { func_name: 'bash', subject: 'echo \u202ec' }),
  ];
  assert.deepEqual(decidedNames({ items }, { approved: true }), ['bash', 'bash', 'bash']);
  assert.deepEqual(decidedNames({ items }, { approved: false, denied_call_ids: ['c1'] }), ['bash', 'bash', 'bash']);
  const [first, long, last] = decidedNames({ items }, { approved: true, denied_call_ids: ['c1', 'c3'] });
  assert.match(first ?? '', /^echo b+ … \d+ characters … b+$/);
  assert.deepEqual([long, last], ['not echo a', 'not echo \\u202ec']);
});
